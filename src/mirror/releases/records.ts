import type { Hostname } from "../../address/hostname.ts";
import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Sha256 } from "../../address/hash.ts";
import { formatArchiveName } from "../../address/archive-name.ts";
import { parsePlatform, type Platform } from "../../address/platform.ts";
import { isVersion, type Version } from "../../address/version.ts";
import { ifAddress, ProvenderError } from "../../errors/index.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { laterOf, type Clock } from "../cache/clock.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-cache.ts";
import { joinReleases } from "./joined-releases.ts";
import {
  faultyEvidence,
  goodEvidence,
  readContent,
  type KnownRelease,
  type StoredEvidence,
} from "./known-release.ts";
import {
  isUnchanged,
  readProof,
  readReleaseBody,
  writeReleaseBody,
  type EvidenceBody,
  type ReleaseBody,
} from "./release-body.ts";
import { formatRelease, type ReleaseAddress } from "./release.ts";
import {
  judgeProof,
  matchesPolicy,
  prepareProof,
  type SignatureJudge,
  type SignaturePolicy,
} from "./verdict.ts";

/** Terms on which evidence that is read back has to hold. */
interface JudgingTerms {
  readonly judge: SignatureJudge;
  readonly policyOf: (hostname: Hostname) => SignaturePolicy;
  readonly clock: Clock;
}

/** A record of a release for people: nothing of it is judged. */
export interface DescribedRelease {
  readonly firstSeen: Date | undefined;
  /** Fingerprint of the primary key that it was admitted under. */
  readonly signedBy: string | undefined;
  /** Pinned digests, by platform. */
  readonly packages: readonly DescribedPackage[];
}

export interface DescribedPackage {
  readonly platform: Platform;
  readonly filename: string;
  readonly sha256: Sha256;
}

/** Releases on disk with their evidence, which is judged again when it is read. */
export class ReleaseRecords implements MetadataRecords<
  ReleaseAddress,
  KnownRelease
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

  weigh({ trust, places, keys }: KnownRelease): number {
    const urls = [...places.values()].reduce((sum, url) => sum + url.length, 0);
    const blocks = keys.reduce((sum, key) => sum + key.length, 0);
    const evidence = trust.evidence.reduce(
      (sum, { proof, content }) =>
        sum + 512 * content.size + 4 * proof.document.length,
      0,
    );
    return 4096 + urls + blocks + evidence;
  }

  async read(address: ReleaseAddress): Promise<Kept<KnownRelease> | undefined> {
    const body = await this.#readBody(address);
    if (body === undefined) return undefined;
    const { confirmedAt, pinned, published, keys, offered } = body;
    const evidence = await Promise.all(
      body.evidence.map((one) => this.#judge(address, one)),
    );
    const value = {
      trust: { pinned, evidence, published: new Set(published) },
      keys,
      offered: offered && new Set(offered),
      places: new Map<string, string>(),
    };
    return { value, confirmedAt };
  }

  async describe(
    address: ReleaseAddress,
  ): Promise<DescribedRelease | undefined> {
    const pinned = (await this.#readBody(address))?.pinned;
    if (pinned === undefined) return undefined;
    const { provider, version } = address;
    const packages = [...pinned.content]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, sha256]) => {
        const platform = parsePlatform(name);
        const filename = formatArchiveName(provider, version, platform);
        return { platform, filename, sha256 };
      });
    const { at: firstSeen, signedBy } = pinned;
    return { firstSeen, signedBy, packages };
  }

  /** Lists the archives that the record names, pinned or not, by digest with their file names. */
  async readDigests(
    address: ReleaseAddress,
  ): Promise<ReadonlyMap<Sha256, string>> {
    const body = await this.#readBody(address);
    if (body === undefined) return new Map();
    const offered = body.evidence.map((one) =>
      readContent(address, readProof(one)),
    );
    const { provider, version } = address;
    return new Map(
      [...offered, body.pinned?.content ?? new Map<string, Sha256>()].flatMap(
        (content) =>
          [...content].map(([name, sha256]) => {
            const platform = parsePlatform(name);
            const filename = formatArchiveName(provider, version, platform);
            return [sha256, filename] as const;
          }),
      ),
    );
  }

  /**
   * Joins the release with the record as other replicas wrote it since it was
   * `known`. Nothing is recorded of an unverified release.
   */
  async write(
    address: ReleaseAddress,
    kept: Kept<KnownRelease>,
    known: KnownRelease | undefined,
  ): Promise<Kept<KnownRelease>> {
    let joined = { value: kept.value, isRead: true };
    const { confirmedAt } = kept;
    await this.#records.change(
      recordKey(address),
      readReleaseBody,
      (before) => {
        joined = joinReleases(address, kept.value, known, before);
        if (before === undefined && !isJudged(kept.value)) return before;
        const next = writeReleaseBody({ value: joined.value, confirmedAt });
        return isUnchanged(before, next) ? before : next;
      },
    );
    const own = { value: joined.value, confirmedAt };
    return joined.isRead ? own : ((await this.read(address)) ?? own);
  }

  /** The first `most` providers with a release on record, by name. */
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

  /** The versions of a provider on record, in no order. */
  async list(provider: ProviderAddress): Promise<readonly Version[]> {
    const names = await this.#records.list(recordFolderKey(provider));
    return names.filter(isVersion);
  }

  #readBody(address: ReleaseAddress): Promise<ReleaseBody | undefined> {
    return this.#records.read(recordKey(address), readReleaseBody);
  }

  /** Evidence that does not hold on today's terms is kept: it may hold again. */
  async #judge(
    address: ReleaseAddress,
    body: EvidenceBody,
  ): Promise<StoredEvidence> {
    const { keyLabels, noted } = body;
    const recorded = readProof(body);
    try {
      const proof = this.#onPresentTerms(address, recorded);
      const checksums = await judgeProof(address, proof, this.#terms.judge);
      return { ...goodEvidence(address, proof, keyLabels, checksums), noted };
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      return {
        ...faultyEvidence(address, recorded, keyLabels, body, error),
        noted,
      };
    }
  }

  /**
   * Renews a verdict that was reached under another profile, as of now or,
   * where the clock was set back, as of then.
   */
  #onPresentTerms(
    address: ReleaseAddress,
    proof: StoredEvidence["proof"],
  ): StoredEvidence["proof"] {
    const { judge, clock, policyOf } = this.#terms;
    const policy = policyOf(address.provider.hostname);
    return matchesPolicy(proof, policy)
      ? proof
      : prepareProof(
          ...([address, proof, policy, judge.library] as const),
          laterOf(proof.verifiedAt, clock.now()),
        );
  }

  async #folders(...prefix: RecordKey): Promise<readonly string[]> {
    return (await this.#records.folders(prefix)).toSorted();
  }
}

function isJudged({ trust: { pinned, evidence } }: KnownRelease): boolean {
  return pinned !== undefined || evidence.some(({ noted }) => noted);
}

/** Returns none for a folder of another program. */
function asProvider(
  ...parts: Parameters<typeof providerAddress>
): readonly ProviderAddress[] {
  return ifAddress(() => [providerAddress(...parts)]) ?? [];
}

function recordFolderKey(provider: ProviderAddress): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["providers", hostname, namespace, type, "releases"];
}

export function recordKey({ provider, version }: ReleaseAddress): RecordKey {
  return [...recordFolderKey(provider), version];
}
