import { ExportFailed, type ProvenderError } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { ProviderMirror } from "../providers/provider-mirror.ts";
import type {
  Release,
  ReleaseAddress,
  ReleasePackage,
} from "../releases/release.ts";

/** Where exports come from: the mirror for what may be had, the store for its bytes. */
export interface ExportParts {
  readonly providers: ProviderMirror;
  readonly blobs: BlobStore;
}

/** A package that clients may have and that is stored. */
export interface ExportedPackage {
  readonly address: ReleaseAddress;
  readonly release: Release;
  readonly found: ReleasePackage;
  /** Bytes. */
  readonly size: number;
}

export interface FailedExport {
  /** What was not exported, such as `HOSTNAME/NAMESPACE/TYPE`. */
  readonly subject: string;
  readonly error: ProvenderError;
}

/** What is known of a package whose archive was just seen in the store. */
export async function recallExported(
  { providers, blobs }: ExportParts,
  address: ReleaseAddress,
  found: ReleasePackage,
): Promise<ExportedPackage> {
  const release = await providers.recallRelease(address);
  const size = await blobs.size(found.sha256);
  if (size === undefined)
    throw new ExportFailed(found.filename, "it left the store meanwhile");
  return { address, release, found, size };
}
