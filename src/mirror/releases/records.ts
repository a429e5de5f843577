import { z } from "zod";
import { parsePackageHash, type Sha256 } from "../../address/hash.ts";
import type { Hostname } from "../../address/hostname.ts";
import { formatPlatform, parsePlatform } from "../../address/platform.ts";
import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { isVersion, type Version } from "../../address/version.ts";
import type { KeyLabel } from "../../origin/registries/registry-answers.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { parseChecksumsDocument } from "../../verification/checksums-document.ts";
import type { Clock } from "../cache/clock.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-cache.ts";
import {
  bindPackages,
  formatRelease,
  type Release,
  type ReleaseAddress,
} from "./release.ts";
import {
  isOnTerms,
  judgeProof,
  ownBytes,
  prepareProof,
  type SignatureJudge,
  type SignaturePolicy,
} from "./verdict.ts";

const date = z.iso.datetime().transform((text) => new Date(text));

const label = z.string().optional();

const shape = z.object({
  confirmedAt: date,
  firstSeen: date,
  proof: z.object({
    source: z.enum(["registry", "network-mirror"]).default("registry"),
    document: z.string(),
    signature: z.base64().nullable(),
    keys: z.array(z.string()),
    profile: z.enum(["terraform", "opentofu", "enforce", "strict"]),
    exemption: z.enum(["unsigned-when-published", "signatures-off"]).nullable(),
    verifiedAt: date,
    library: z.string(),
  }),
  platforms: z.array(z.string().transform(parsePlatform)),
  reported: z.array(
    z.object({
      platform: z.string(),
      packageHashes: z.array(z.string().transform(parsePackageHash)),
      size: z.number().nullable(),
    }),
  ),
  // Records of earlier versions have none.
  keyLabels: z
    .array(
      z.object({
        id: label,
        trustSignature: label,
        source: label,
        sourceUrl: label,
      }),
    )
    .default([]),
});

/** On what terms a proof that is read back has to hold. */
export interface JudgingTerms {
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

  weigh({ proof, packages }: Release): number {
    const keys = proof.keys.reduce((sum, key) => sum + key.length, 0);
    const named = 4096 + 512 * packages.size;
    return named + 4 * proof.document.length + keys;
  }

  async read(address: ReleaseAddress): Promise<Kept<Release> | undefined> {
    const body = await this.#records.read(recordKey(address));
    const parsed = shape.safeParse(body);
    if (!parsed.success) return undefined;
    const { confirmedAt, firstSeen, platforms, reported, keyLabels } =
      parsed.data;
    const proof = this.#onPresentTerms(address, readProof(parsed.data.proof));
    const checksums = await judgeProof(address, proof, this.#terms.judge);
    const packages = bindPackages(address, checksums, platforms);
    const value = {
      checksums,
      proof,
      firstSeen,
      packages,
      reported: readReported(reported),
      keyLabels: keyLabels.map(readLabel),
    };
    return { value, confirmedAt };
  }

  /** By file name, as they were believed first, whatever would be decided today; empty when nothing was. */
  async readFirstDigests(
    address: ReleaseAddress,
  ): Promise<ReadonlyMap<string, Sha256>> {
    const parsed = shape.safeParse(
      await this.#records.read(recordKey(address)),
    );
    if (!parsed.success) return new Map();
    const { document } = parsed.data.proof;
    return parseChecksumsDocument(
      formatRelease(address),
      Buffer.from(document, "utf8"),
    );
  }

  async stamp(address: ReleaseAddress): Promise<string | undefined> {
    return this.#records.stamp(recordKey(address));
  }

  async write(
    address: ReleaseAddress,
    { value, confirmedAt }: Kept<Release>,
  ): Promise<void> {
    const { proof, packages, reported, keyLabels, firstSeen } = value;
    await this.#records.write(recordKey(address), {
      confirmedAt: confirmedAt.toISOString(),
      firstSeen: firstSeen.toISOString(),
      signedBy: value.checksums.signedBy ?? null,
      proof: {
        ...proof,
        document: Buffer.from(proof.document).toString("utf8"),
        signature: encodeSignature(proof.signature),
        exemption: proof.exemption ?? null,
        verifiedAt: proof.verifiedAt.toISOString(),
      },
      platforms: [...packages.values()].map(({ platform }) =>
        formatPlatform(platform),
      ),
      reported: [...reported].map(([platform, { packageHashes, size }]) => ({
        platform,
        packageHashes,
        size: size ?? null,
      })),
      keyLabels,
    });
  }

  /** A verdict on other terms than today's is made again, as of now. */
  #onPresentTerms(
    address: ReleaseAddress,
    proof: Release["proof"],
  ): Release["proof"] {
    const { judge, clock, policyOf } = this.#terms;
    const policy = policyOf(address.provider.hostname);
    return isOnTerms(proof, policy)
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
            found.push(providerAddress(hostname, namespace, type));
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

function readProof(proof: z.infer<typeof shape>["proof"]): Release["proof"] {
  const { document, signature, exemption } = proof;
  return {
    ...proof,
    ...ownBytes({
      document: Buffer.from(document, "utf8"),
      signature:
        signature === null ? undefined : Buffer.from(signature, "base64"),
    }),
    exemption: exemption ?? undefined,
  };
}

function encodeSignature(signature: Uint8Array | undefined): string | null {
  return signature === undefined
    ? null
    : Buffer.from(signature).toString("base64");
}

function readReported(
  reported: z.infer<typeof shape>["reported"],
): Release["reported"] {
  return new Map(
    reported.map(({ platform, packageHashes, size }) => [
      platform,
      { packageHashes, size: size ?? undefined },
    ]),
  );
}

function readLabel({
  id,
  trustSignature,
  source,
  sourceUrl,
}: z.infer<typeof shape>["keyLabels"][number]): KeyLabel {
  return { id, trustSignature, source, sourceUrl };
}

function recordFolderKey(provider: ProviderAddress): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["providers", hostname, namespace, type, "releases"];
}

function recordKey({ provider, version }: ReleaseAddress): RecordKey {
  return [...recordFolderKey(provider), version];
}
