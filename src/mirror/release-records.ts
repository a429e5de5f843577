import { z } from "zod";
import { parsePackageHash } from "../address/hash.ts";
import { formatPlatform, parsePlatform } from "../address/platform.ts";
import type { ProviderAddress } from "../address/provider-address.ts";
import { isVersion, type Version } from "../address/version.ts";
import type { RecordKey } from "../store/layout.ts";
import type { RecordStore } from "../store/record-store.ts";
import type { Kept, MetadataRecords } from "./metadata-cache.ts";
import {
  bindPackages,
  formatRelease,
  type Release,
  type ReleaseAddress,
} from "./release.ts";
import { judgeProof, type SignatureJudge } from "./release-verdict.ts";

const shape = z.object({
  confirmedAt: z.iso.datetime(),
  firstSeen: z.iso.datetime(),
  proof: z.object({
    document: z.string(),
    signature: z.base64().nullable(),
    keys: z.array(z.string()),
    profile: z.enum(["terraform", "opentofu", "enforce", "strict"]),
    exemption: z.enum(["unsigned-when-published", "signatures-off"]).nullable(),
    verifiedAt: z.iso.datetime(),
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
});

/** Believed releases on disk with their proofs. What is read back is judged again, so a record alone is never trusted. */
export class ReleaseRecords implements MetadataRecords<
  ReleaseAddress,
  Release
> {
  readonly #records: RecordStore;
  readonly #judge: SignatureJudge;

  constructor(records: RecordStore, judge: SignatureJudge) {
    this.#records = records;
    this.#judge = judge;
  }

  format(release: ReleaseAddress): string {
    return formatRelease(release);
  }

  async read(address: ReleaseAddress): Promise<Kept<Release> | undefined> {
    const body = await this.#records.read(recordKey(address));
    if (body === undefined) return undefined;
    const record = shape.parse(body);
    const { document, signature, exemption, verifiedAt } = record.proof;
    const proof = {
      ...record.proof,
      document: Buffer.from(document, "utf8"),
      signature:
        signature === null ? undefined : Buffer.from(signature, "base64"),
      exemption: exemption ?? undefined,
      verifiedAt: new Date(verifiedAt),
    };
    const checksums = await judgeProof(address, proof, this.#judge);
    const value = {
      checksums,
      proof,
      firstSeen: new Date(record.firstSeen),
      packages: bindPackages(address, checksums, record.platforms),
      reported: readReported(record.reported),
    };
    return { value, confirmedAt: new Date(record.confirmedAt) };
  }

  async write(
    address: ReleaseAddress,
    { value, confirmedAt }: Kept<Release>,
  ): Promise<number> {
    const { proof, packages, reported, firstSeen } = value;
    return this.#records.write(recordKey(address), {
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
    });
  }

  /** The versions of a provider that were ever believed, in no order. */
  async list(provider: ProviderAddress): Promise<readonly Version[]> {
    const names = await this.#records.list(recordFolderKey(provider));
    return names.filter(isVersion);
  }
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

function recordFolderKey(provider: ProviderAddress): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["providers", hostname, namespace, type, "releases"];
}

function recordKey({ provider, version }: ReleaseAddress): RecordKey {
  return [...recordFolderKey(provider), version];
}
