import { hash } from "node:crypto";
import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { AdmittedPackage } from "../providers/admitted.ts";
import type { ProviderMirror } from "../providers/provider-mirror.ts";
import { formatRelease } from "../releases/release.ts";
import {
  type BundledModule,
  type BundleManifest,
  formatManifest,
  parseManifest,
} from "./manifest.ts";
import { formatProof } from "./proof.ts";

interface Proof {
  readonly sha256: Sha256;
  readonly bytes: Buffer;
}

/** Plan of a bundle: its manifest, and the proofs by digest. */
export interface BundlePlan {
  readonly manifest: BundleManifest;
  readonly proofs: ReadonlyMap<Sha256, Buffer>;
}

/**
 * Lists every package and carries what `since` does not list. A release of which
 * an archive is carried has its proof with it.
 */
export function planBundle(
  packages: readonly ExportedPackage[],
  modules: readonly ExportedModule[],
  since: BundleManifest | undefined,
): BundlePlan {
  const listed = new Set([
    ...(since?.releases ?? []).flatMap(({ proof, archives }) => [
      proof,
      ...archives.values(),
    ]),
    ...(since?.modules ?? []).map(({ archive }) => archive.sha256),
  ]);
  const releases = [
    ...Map.groupBy(packages, ({ request }) =>
      formatRelease(request.address),
    ).values(),
  ].map((group) => planRelease(group, listed));
  const carried = releases.filter((release) => release.carriesProof);
  const proofs = carried.map(({ proof: { sha256, bytes } }) => ({
    sha256,
    size: bytes.length,
  }));
  const archives = releases.flatMap((release) => release.carried);
  const entries = releases.map(({ entry }) => entry);
  const moduleArchives = modules
    .map(({ archive, size }) => ({ sha256: archive.sha256, size }))
    .filter(({ sha256 }) => !listed.has(sha256));
  const text = formatManifest({
    ...{ releases: entries, modules, proofs, archives, moduleArchives },
  });
  return {
    manifest: parseManifest(text),
    proofs: new Map(
      carried.map(({ proof }) => [proof.sha256, proof.bytes] as const),
    ),
  };
}

function planRelease(
  group: readonly ExportedPackage[],
  listed: ReadonlySet<Sha256>,
) {
  const [{ request, release }] = group as [ExportedPackage];
  const { address } = request;
  const proof = makeProof(release.proof);
  const carried = group
    .map(({ found: { sha256 }, size }) => ({ sha256, size }))
    .filter(({ sha256 }) => !listed.has(sha256));
  const entry = {
    address,
    proof: proof.sha256,
    platforms: [...release.packages.values()].map(({ platform }) => platform),
    archives: new Map(
      group.map(({ found: { platform, sha256 } }) => [
        formatPlatform(platform),
        sha256,
      ]),
    ),
  };
  const carriesProof = carried.length > 0 || !listed.has(proof.sha256);
  return { entry, proof, carried, carriesProof };
}

function makeProof(proof: ExportedPackage["release"]["proof"]): Proof {
  const bytes = formatProof(proof);
  const sha256 = hash("sha256", bytes) as Sha256;
  return { sha256, bytes };
}

/**
 * Sources of an export: the mirror for packages that clients may have, the
 * store for their bytes.
 */
export interface ExportParts {
  readonly providers: ProviderMirror;
  readonly blobs: BlobStore;
  /** The storage directory, which no export writes into. */
  readonly layout: { readonly directory: string };
}

/** A package that clients may have and that is stored. */
export interface ExportedPackage extends AdmittedPackage {
  /** Bytes. */
  readonly size: number;
}

/** A module that clients may have and that is stored. */
export interface ExportedModule extends BundledModule {
  /** Bytes. */
  readonly size: number;
}

export interface FailedExport {
  /** Name of what was not exported, such as `HOSTNAME/NAMESPACE/TYPE`. */
  readonly subject: string;
  readonly error: ProvenderError;
}

export function byProvider(
  packages: readonly ExportedPackage[],
): ReadonlyMap<string, readonly ExportedPackage[]> {
  return Map.groupBy(packages, ({ request }) =>
    formatProviderAddress(request.provider),
  );
}

export function byVersion(
  packages: readonly ExportedPackage[],
): ReadonlyMap<Version, readonly ExportedPackage[]> {
  return Map.groupBy(packages, ({ request }) => request.address.version);
}

/** Writes one subject after the other; what fails of one takes nothing from the rest. */
export async function writeEach<T>(
  all: Iterable<readonly [subject: string, one: T]>,
  write: (one: T, subject: string) => Promise<void>,
): Promise<readonly FailedExport[]> {
  const failed: FailedExport[] = [];
  for (const [subject, one] of all)
    try {
      await write(one, subject);
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      failed.push({ subject, error });
    }
  return failed;
}

/** Adds the stored size to a package whose archive was just seen in the store. */
export async function measureExported(
  { blobs }: ExportParts,
  admitted: AdmittedPackage,
): Promise<ExportedPackage> {
  const { sha256, filename } = admitted.found;
  const size = await blobs.size(sha256);
  if (size === undefined)
    throw failure("export-failed", filename, "it left the store meanwhile");
  return { ...admitted, size };
}
