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

/** Milliseconds for which another process may have an archive open. */
const openFor = 60_000;

/**
 * Lists archives that may be evicted, least recently used first. Archives in
 * use, and those that no origin offers, are excluded.
 */
export async function orderByUse(
  blobs: BlobStore,
  irreplaceable: ReadonlySet<Sha256>,
): Promise<readonly UsedBlob[]> {
  const now = Date.now();
  const uses = await blobs.usage.read();
  const found: UsedBlob[] = [];
  for await (const { sha256, size, writtenAt } of blobs.list()) {
    if (sha256 === undefined || irreplaceable.has(sha256)) continue;
    const use = uses.get(sha256);
    const isOpenElsewhere =
      use?.open === true && Math.abs(now - use.at) < openFor;
    if (blobs.usage.isOpen(sha256) || isOpenElsewhere) continue;
    found.push({ sha256, size, usedAt: Math.max(writtenAt, use?.at ?? 0) });
  }
  return found.toSorted((a, b) => a.usedAt - b.usedAt);
}
