import pLimit from "p-limit";
import type { Sha256 } from "../../address/hash.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import { isFailure } from "../../errors/index.ts";
import type {
  BlobCount,
  BlobStore,
  UsedBlob,
} from "../../store/blobs/blob-store.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { MetadataCache } from "../cache/metadata-cache.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import type { VersionList } from "../versions/version-list.ts";
import { readNames } from "./store-inspection.ts";

/** Known names of archives, on disk and in memory. */
interface KeptReleases {
  readonly versions: MetadataCache<ProviderAddress, VersionList>;
  readonly releases: ReleaseRecords;
}

interface PrunedArchive extends UsedBlob {
  /** Its file name, where a record has one. */
  readonly name: string | undefined;
  readonly because: "named" | "orphan" | "least recently used";
}

/** Deletions, with the archives and bytes that are stored before. */
export interface PrunePlan extends BlobCount {
  /** Bytes of the database; they count for `maxSize`, too. */
  readonly recordBytes: number;
  readonly removed: readonly PrunedArchive[];
  /** Bytes that stay above `maxSize`, because what has them may not leave. */
  readonly excess: number;
}

const atOnce = 8;

/** An import stores archives before it writes the records that name them; milliseconds. */
const orphanAfter = 60 * 60 * 1000;

/** What to delete: unnamed archives, then the least recently used above `maxSize` bytes. */
export async function planPrune(
  parts: KeptReleases & {
    readonly blobs: BlobStore;
    readonly records: RecordStore;
  },
  maxSize: number | undefined,
  now: number,
): Promise<PrunePlan> {
  const { blobs, records } = parts;
  const total = await blobs.count();
  const recordBytes = await records.measure();
  const names = new Map<Sha256, string>();
  const keys = await Array.fromAsync(records.listAll());
  await pLimit(atOnce).map(keys, async (key) => {
    for (const [digest, name] of await readNames(parts, key))
      names.set(digest, name);
  });
  const order = await orderByUse(blobs, await listIrreplaceable(parts));
  // Without any name the records are lost, and the archives are what is left.
  const isOrphan = ({ sha256, usedAt }: UsedBlob) =>
    names.size > 0 && !names.has(sha256) && now - usedAt > orphanAfter;
  const orphans = order.filter(isOrphan);
  let left = total.bytes + recordBytes - sumOf(orphans) - (maxSize ?? Infinity);
  const oldest: UsedBlob[] = [];
  for (const blob of order.filter((one) => !isOrphan(one))) {
    if (left <= 0) break;
    oldest.push(blob);
    left -= blob.size;
  }
  const describe =
    (because: PrunedArchive["because"]) =>
    (blob: UsedBlob): PrunedArchive => ({
      ...{ ...blob, name: names.get(blob.sha256), because },
    });
  const removed = [
    ...orphans.map(describe("orphan")),
    ...oldest.map(describe("least recently used")),
  ];
  const excess = Math.max(0, left);
  return { ...total, recordBytes, removed, excess };
}

/** The archives of versions that their origin no longer lists, so that it could not give them again; of every version where that is unknown. */
export async function listIrreplaceable({
  versions,
  releases,
}: KeptReleases): Promise<ReadonlySet<Sha256>> {
  const found = new Set<Sha256>();
  for (const provider of await releases.listProviders()) {
    const unlisted = await unlessUnreadable(async () => {
      const list = await versions.peek(provider);
      return [...(list?.versions.values() ?? [])]
        .filter(({ listed }) => !listed)
        .map(({ version }) => version);
    });
    for (const version of unlisted ?? (await releases.list(provider))) {
      const digests = await unlessUnreadable(() =>
        releases.readDigests({ provider, version }),
      );
      for (const digest of digests?.keys() ?? []) found.add(digest);
    }
  }
  return found;
}

async function unlessUnreadable<T>(
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!isFailure(error, "record-unreadable")) throw error;
    return undefined;
  }
}

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
  return [...(await blobs.listUsed()).values()]
    .filter(
      ({ sha256 }) => !irreplaceable.has(sha256) && !blobs.usage.isOpen(sha256),
    )
    .sort((a, b) => a.usedAt - b.usedAt);
}
