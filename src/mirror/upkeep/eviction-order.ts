import type { Sha256 } from "../../address/hash.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";

/** A stored archive and when it was last used. */
export interface UsedBlob {
  readonly sha256: Sha256;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970; when it was stored, where it was not used since. */
  readonly usedAt: number;
}

/** Bytes of all. */
export function sumOf(blobs: readonly Pick<UsedBlob, "size">[]): number {
  return blobs.reduce((sum, { size }) => sum + size, 0);
}

/** Every archive on disk. */
export async function* listUsed(blobs: BlobStore): AsyncGenerator<UsedBlob> {
  const uses = await blobs.usage.read();
  for await (const { sha256, size, writtenAt } of blobs.list()) {
    if (sha256 === undefined) continue;
    const usedAt = Math.max(Math.trunc(writtenAt), uses.get(sha256) ?? 0);
    yield { sha256, size, usedAt };
  }
}

/**
 * Lists archives that may be evicted, least recently used first. Archives in
 * use, and those that no origin offers, are excluded.
 */
export async function orderByUse(
  blobs: BlobStore,
  irreplaceable: ReadonlySet<Sha256>,
): Promise<readonly UsedBlob[]> {
  const used = await Array.fromAsync(listUsed(blobs));
  return used
    .filter(
      ({ sha256 }) => !irreplaceable.has(sha256) && !blobs.usage.isOpen(sha256),
    )
    .toSorted((a, b) => a.usedAt - b.usedAt);
}
