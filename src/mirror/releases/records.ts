import type { Sha256 } from "../../address/hash.ts";
import type { Hostname } from "../../address/hostname.ts";
import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { isVersion, type Version } from "../../address/version.ts";
import { ifAddress } from "../../errors/index.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Clock } from "../cache/clock.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-records.ts";
import {
  firstDigestsOf,
  isNoNews,
  isSameDocument,
  readLabel,
  readProof,
  readReleaseBody,
  readReported,
  recordedRelease,
  writeReleaseBody,
  writeRemains,
  type ReleaseBody,
} from "./release-body.ts";
import {
  bindPackages,
  formatRelease,
  type Release,
  type ReleaseAddress,
} from "./release.ts";
import { resumeReports } from "./reported-hashes.ts";
import {
  matchesPolicy,
  judgeProof,
  prepareProof,
  type SignatureJudge,
  type SignaturePolicy,
} from "./verdict.ts";

/** On what terms a proof that is read back has to hold. */
interface JudgingTerms {
  readonly judge: SignatureJudge;
  readonly policyOf: (hostname: Hostname) => SignaturePolicy;
  readonly clock: Clock;
}

/** Believed releases on disk with their proofs. What is read back is judged again, so a record alone is never trusted. */
export class ReleaseRecords implements MetadataRecords<
  ReleaseAddress,
  Release
> {
  readonly #records: RecordStore;
  readonly #terms: JudgingTerms;

  constructor(records: RecordStore, terms: JudgingTerms) {
    this.#records = records;
    this.#terms = terms;
  }

  format(release: ReleaseAddress): string {
    return formatRelease(release);
  }

  weigh({ proof, packages, places }: Release): number {
    const keys = proof.keys.reduce((sum, key) => sum + key.length, 0);
    const named = 4096 + 512 * packages.size;
    const urls = [...places.values()].reduce((sum, url) => sum + url.length, 0);
    return named + 4 * proof.document.length + keys + urls;
  }

  async read(address: ReleaseAddress): Promise<Kept<Release> | undefined> {
    const recorded = recordedRelease(await this.#readBody(address));
    if (recorded === undefined) return undefined;
    const { confirmedAt, firstSeen, platforms, reported, keyLabels } = recorded;
    const proof = this.#onPresentTerms(address, readProof(recorded.proof));
    const checksums = await judgeProof(address, proof, this.#terms.judge);
    const packages = bindPackages(address, checksums, platforms);
    if (packages.size < platforms.length)
      this.#records.refuse(
        recordKey(address),
        "it has archives that its SHA256SUMS does not name",
      );
    const value = {
      checksums,
      proof,
      firstSeen,
      packages,
      reported: readReported(reported),
      places: new Map(),
      keyLabels: keyLabels.map(readLabel),
    };
    return { value, confirmedAt };
  }

  /** By file name, as they were believed first, whatever would be decided today; empty when nothing was. */
  async readFirstDigests(
    address: ReleaseAddress,
  ): Promise<ReadonlyMap<string, Sha256>> {
    return firstDigestsOf(address, await this.#readBody(address));
  }

  /** What is recorded, for people: nothing of it is judged. Undefined when nothing is. */
  async describe(address: ReleaseAddress): Promise<
    | {
        readonly firstSeen: Date | undefined;
        /** The fingerprint of a primary key. */
        readonly signedBy: string | undefined;
        readonly digests: ReadonlyMap<string, Sha256>;
      }
    | undefined
  > {
    const body = await this.#readBody(address);
    if (body === undefined) return undefined;
    const { firstSeen, signedBy } = recordedRelease(body) ?? {};
    const digests = firstDigestsOf(address, body);
    return { firstSeen, signedBy: signedBy ?? undefined, digests };
  }

  async stamp(address: ReleaseAddress): Promise<string | undefined> {
    return this.#records.stamp(recordKey(address));
  }

  /**
   * Makes this the first content of a release; the ledger of its namespace has
   * begun by then. Returns undefined when it is, also when its proof was dropped
   * meanwhile, and else what was first.
   */
  async claim(
    address: ReleaseAddress,
    kept: Kept<Release>,
  ): Promise<Release | undefined> {
    const first = recordedRelease(
      await this.#records.create(
        recordKey(address),
        writeReleaseBody(kept, new Map(), true),
        readReleaseBody,
      ),
    );
    if (first === undefined || isSameDocument(first, kept.value))
      return undefined;
    return (await this.read(address))?.value;
  }

  /** Continues the content that was known; what another process made of it meanwhile stays, and is returned. */
  async write(
    address: ReleaseAddress,
    kept: Kept<Release>,
    known: Release | undefined,
  ): Promise<Kept<Release>> {
    let now: Kept<Release> | undefined = kept;
    const written = () => now;
    await this.#records.change(recordKey(address), readReleaseBody, (body) => {
      const before = recordedRelease(body);
      const isOurs =
        before === undefined ||
        isSameDocument(before, kept.value) ||
        isSameDocument(before, known);
      now = isOurs ? this.#resume(address, body, kept) : undefined;
      return now === undefined ? body : this.#continue(address, body, now);
    });
    return written() ?? (await this.read(address)) ?? kept;
  }

  /** Drops the proof, and keeps what was seen first. */
  async dropProof(address: ReleaseAddress): Promise<void> {
    await this.#records.change(recordKey(address), readReleaseBody, (body) =>
      writeRemains(address, body),
    );
  }

  /** What was reported first outlives the proof that it came with. */
  #resume(
    address: ReleaseAddress,
    body: ReleaseBody | undefined,
    kept: Kept<Release>,
  ): Kept<Release> {
    if (body === undefined || recordedRelease(body) !== undefined) return kept;
    const { value } = kept;
    const first = firstDigestsOf(address, body);
    const packages = new Map(
      [...value.packages].map(
        ([name, { filename }]) =>
          [name, { sha256: first.get(filename) }] as const,
      ),
    );
    const known = { packages, reported: readReported(body.reported) };
    const reported = resumeReports(known, value);
    return { ...kept, value: { ...value, reported } };
  }

  #continue(
    address: ReleaseAddress,
    body: ReleaseBody | undefined,
    kept: Kept<Release>,
  ): unknown {
    const { sha256ByFilename: named } = kept.value.checksums;
    const first = [...firstDigestsOf(address, body)];
    const others = first.filter(([filename]) => !named.has(filename));
    const { hasLedger } = body ?? {};
    const next = writeReleaseBody(kept, new Map(others), hasLedger);
    return isNoNews(body, next) ? body : next;
  }

  #readBody(address: ReleaseAddress): Promise<ReleaseBody | undefined> {
    return this.#records.read(recordKey(address), readReleaseBody);
  }

  /** A verdict on other terms than today's is made again, as of now. */
  #onPresentTerms(
    address: ReleaseAddress,
    proof: Release["proof"],
  ): Release["proof"] {
    const { judge, clock, policyOf } = this.#terms;
    const policy = policyOf(address.provider.hostname);
    return matchesPolicy(proof, policy)
      ? proof
      : prepareProof(address, proof, policy, judge.library, clock.now());
  }

  /** The first `most` providers of which a release was ever believed, by name. */
  async listProviders(most: number): Promise<readonly ProviderAddress[]> {
    const found: ProviderAddress[] = [];
    for (const hostname of await this.#folders("providers"))
      for (const namespace of await this.#folders("providers", hostname))
        for (const type of await this.#folders(
          "providers",
          hostname,
          namespace,
        ))
          if (found.length < most)
            found.push(...asProvider(hostname, namespace, type));
    return found;
  }

  async #folders(...prefix: RecordKey): Promise<readonly string[]> {
    return (await this.#records.folders(prefix)).toSorted();
  }

  /** The versions of a provider that were ever believed, in no order. */
  async list(provider: ProviderAddress): Promise<readonly Version[]> {
    const names = await this.#records.list(recordFolderKey(provider));
    return names.filter(isVersion);
  }
}

/** None for a folder that others made there. */
function asProvider(
  ...parts: Parameters<typeof providerAddress>
): readonly ProviderAddress[] {
  return ifAddress(() => [providerAddress(...parts)]) ?? [];
}

function recordFolderKey(provider: ProviderAddress): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["providers", hostname, namespace, type, "releases"];
}

function recordKey({ provider, version }: ReleaseAddress): RecordKey {
  return [...recordFolderKey(provider), version];
}
