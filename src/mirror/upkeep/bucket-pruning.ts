import type { Sha256 } from "../../address/hash.ts";
import { sumOf } from "./eviction-order.ts";
import type { PrunePlan } from "./pruning.ts";
import {
  listUnnamedRecords,
  readNamedArchives,
  type NamingParts,
} from "./unnamed-records.ts";

/** The archives of a bucket. */
interface SharedArchives {
  list(): AsyncIterable<{
    readonly sha256: Sha256;
    readonly size: number;
    readonly writtenAt: Date;
  }>;
  size(sha256: Sha256): Promise<number | undefined>;
}

interface BucketPruneParts extends Omit<NamingParts, "blobs"> {
  readonly blobs: SharedArchives;
  /**
   * Returns the last use of each archive by any replica, in milliseconds since
   * 1970.
   */
  readonly readUses: () => Promise<ReadonlyMap<Sha256, number>>;
}

/** Milliseconds for which an archive that nothing names stays: some replica may be about to record it. */
const orphanAfter = 24 * 60 * 60 * 1000;

/**
 * Returns the deletions for a bucket: archives that no record names and no
 * replica used for a day, and their records. `now` is the bucket's time.
 */
export async function planBucketPrune(
  parts: BucketPruneParts,
  now: number,
): Promise<PrunePlan> {
  // Archives first: a record that names one is written after it.
  const all = await Array.fromAsync(parts.blobs.list());
  const recordBytes = await parts.records.measure();
  const named = await readNamedArchives(parts);
  const { names } = named;
  const uses = await parts.readUses();
  // Without any name the records are lost, and the archives are what is left.
  const removed = all.flatMap(({ sha256, size, writtenAt }) => {
    const usedAt = Math.max(writtenAt.getTime(), uses.get(sha256) ?? 0);
    const isOrphan =
      names.size > 0 && !names.has(sha256) && now - usedAt > orphanAfter;
    const because = "orphan" as const;
    return isOrphan ? [{ sha256, size, usedAt, name: undefined, because }] : [];
  });
  const leaving = new Set(removed.map(({ sha256 }) => sha256));
  return {
    archives: all.length,
    bytes: sumOf(all),
    recordBytes,
    removed,
    removedRecords: await listUnnamedRecords(parts, named, leaving),
    excess: 0,
  };
}
