import pLimit from "p-limit";
import { isSha256, type Sha256 } from "../../address/hash.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { isRebuildable, type RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import { readNames } from "./store-inspection.ts";

export interface NamingParts {
  readonly blobs: Pick<BlobStore, "size">;
  readonly records: RecordStore;
  readonly releases: ReleaseRecords;
}

/** Archives that the records of a store name. */
interface NamedArchives {
  /** The archives that were seen, each with its file name. */
  readonly names: ReadonlyMap<Sha256, string>;
  /** Records of single archives that can be rebuilt from them. */
  readonly rebuildable: readonly RebuildableRecord[];
}

interface RebuildableRecord {
  readonly key: RecordKey;
  readonly sha256: Sha256;
}

/** Records that are read at once. */
const atOnce = 8;

/** Reads every record once. */
export async function readNamedArchives(
  parts: Omit<NamingParts, "blobs">,
): Promise<NamedArchives> {
  const names = new Map<Sha256, string>();
  const rebuildable: RebuildableRecord[] = [];
  const others: RecordKey[] = [];
  for await (const key of parts.records.listAll()) {
    const sha256 = key.at(-1) ?? "";
    if (!isRebuildable(key)) others.push(key);
    else if (isSha256(sha256)) rebuildable.push({ key, sha256 });
  }
  await pLimit(atOnce).map(others, async (key) => {
    for (const [digest, name] of await readNames(parts, key))
      names.set(digest, name);
  });
  return { names, rebuildable };
}

/** Records of archives that nothing names and that are not stored, but for `leaving` ones. */
export async function listUnnamedRecords(
  { blobs }: Pick<NamingParts, "blobs">,
  { names, rebuildable }: NamedArchives,
  leaving: ReadonlySet<Sha256>,
): Promise<readonly RecordKey[]> {
  const unnamed: RecordKey[] = [];
  for (const { key, sha256 } of rebuildable) {
    if (names.has(sha256)) continue;
    const isStored = (await blobs.size(sha256)) !== undefined;
    if (!isStored || leaving.has(sha256)) unnamed.push(key);
  }
  return unnamed;
}

/** Removes the records of archives that nothing names; returns how many. */
export async function dropUnnamedRecords(parts: NamingParts): Promise<number> {
  const named = await readNamedArchives(parts);
  const unnamed = await listUnnamedRecords(parts, named, new Set());
  for (const key of unnamed) await parts.records.remove(key);
  return unnamed.length;
}
