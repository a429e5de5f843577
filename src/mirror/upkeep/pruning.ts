import type { Sha256 } from "../../address/hash.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { orderByUse, type UsedBlob } from "./eviction-order.ts";
import { listIrreplaceable, type KeptReleases } from "./irreplaceable.ts";
import { readNames } from "./record-judgement.ts";

export interface PruneParts extends KeptReleases {
  readonly blobs: BlobStore;
  readonly records: RecordStore;
}

export interface PrunedArchive extends UsedBlob {
  /** Its file name, where a record has one. */
  readonly name: string | undefined;
  readonly because: "orphan" | "least recently used";
}

export interface PrunePlan {
  /** What is stored before. */
  readonly archives: number;
  readonly bytes: number;
  readonly removed: readonly PrunedArchive[];
  /** Bytes that stay above `maxSize`, because what has them may not leave. */
  readonly excess: number;
}

/** An import stores archives before it writes the records that name them; milliseconds. */
const orphanAfter = 60 * 60 * 1000;

/** What is to leave now: archives that nothing names, then the least recently used above `maxSize` bytes. */
export async function planPrune(
  parts: PruneParts,
  maxSize: number | undefined,
  now: number,
): Promise<PrunePlan> {
  const { blobs } = parts;
  const total = { archives: 0, bytes: 0 };
  for await (const { size } of blobs.list()) {
    total.archives++;
    total.bytes += size;
  }
  const names = await readAllNames(parts);
  const order = await orderByUse(blobs, await listIrreplaceable(parts));
  // Without any name the records are lost, and the archives are what is left.
  const isOrphan = ({ sha256, usedAt }: UsedBlob) =>
    names.size > 0 && !names.has(sha256) && now - usedAt > orphanAfter;
  const orphans = order.filter(isOrphan);
  let left = total.bytes - sumOf(orphans) - (maxSize ?? Infinity);
  const oldest: UsedBlob[] = [];
  for (const blob of order.filter((one) => !isOrphan(one))) {
    if (left <= 0) break;
    oldest.push(blob);
    left -= blob.size;
  }
  const describe = (because: PrunedArchive["because"]) => (blob: UsedBlob) => ({
    ...blob,
    name: names.get(blob.sha256),
    because,
  });
  const removed = [
    ...orphans.map(describe("orphan")),
    ...oldest.map(describe("least recently used")),
  ];
  return { ...total, removed, excess: Math.max(0, left) };
}

async function readAllNames(
  parts: PruneParts,
): Promise<ReadonlyMap<Sha256, string>> {
  const names = new Map<Sha256, string>();
  for await (const key of parts.records.listAll())
    for (const [digest, name] of await readNames(parts, key))
      names.set(digest, name);
  return names;
}

function sumOf(blobs: readonly UsedBlob[]): number {
  return blobs.reduce((sum, { size }) => sum + size, 0);
}
