import type { Sha256 } from "../../address/hash.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";

/** A stored archive and when it was last used. */
export interface UsedBlob {
  readonly sha256: Sha256;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly usedAt: number;
}

/** Bytes of all. */
export function sumOf(blobs: readonly Pick<UsedBlob, "size">[]): number {
  return blobs.reduce((sum, { size }) => sum + size, 0);
}

/**
 * Lists archives that may be evicted, least recently used first. Archives in
 * use, and those that no origin offers, are excluded.
 */
export async function orderByUse(
  blobs: BlobStore,
  irreplaceable: ReadonlySet<Sha256>,
): Promise<readonly UsedBlob[]> {
  const uses = await blobs.usage.read();
  const found: UsedBlob[] = [];
  for await (const { sha256, size, writtenAt } of blobs.list()) {
    if (sha256 === undefined || irreplaceable.has(sha256)) continue;
    if (blobs.usage.isOpen(sha256)) continue;
    const usedAt = Math.max(writtenAt, uses.get(sha256) ?? 0);
    found.push({ sha256, size, usedAt });
  }
  return found.toSorted((a, b) => a.usedAt - b.usedAt);
}
