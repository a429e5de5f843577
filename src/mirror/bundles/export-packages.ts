import { formatProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { AdmittedPackage } from "../providers/admitted.ts";
import type { BundledModule } from "./manifest.ts";
import type { ProviderMirror } from "../providers/provider-mirror.ts";

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

/** Writes one subject after the other; what fails of one takes nothing from the rest. Throws what is not foreseen. */
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

/**
 * Adds the stored size to a package whose archive was just seen in the store.
 * Throws export-failed.
 */
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
