import type { Sha256 } from "../../address/hash.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";

export interface StoredArchive {
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970; when it was stored, where it was not used since. */
  readonly usedAt: number;
}

/** Every archive on disk. */
export async function findStored(
  blobs: BlobStore,
): Promise<ReadonlyMap<Sha256, StoredArchive>> {
  const uses = await blobs.usage.read();
  const found = new Map<Sha256, StoredArchive>();
  for await (const { sha256, size, writtenAt } of blobs.list()) {
    if (sha256 === undefined) continue;
    const usedAt = Math.max(Math.trunc(writtenAt), uses.get(sha256) ?? 0);
    found.set(sha256, { size, usedAt });
  }
  return found;
}
