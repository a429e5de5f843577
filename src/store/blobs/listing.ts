import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isSha256, type Sha256 } from "../../address/hash.ts";
import { unlessMissing } from "../file-failure.ts";
import { blobPath, type StoreLayout } from "../layout.ts";

/** One name below the folder of the blobs. */
export interface ListedBlob {
  /** Undefined for what is no blob by its name or its place. */
  readonly sha256: Sha256 | undefined;
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
}

/** Everything below the folder of the blobs, folder by folder; what leaves meanwhile is left out. */
export async function* listBlobs(
  layout: StoreLayout,
): AsyncGenerator<ListedBlob> {
  for (const folder of (await readdir(layout.blobs)).toSorted()) {
    const path = join(layout.blobs, folder);
    // Undefined for a file among the folders, and for a folder that has just left.
    const names = await readdir(path).catch(unlessMissing);
    const found = names?.map((name) => describe(layout, join(path, name)));
    for (const one of await Promise.all(found ?? [describe(layout, path)]))
      if (one !== undefined) yield one;
  }
}

/** Number of blobs and the sum of their bytes. */
export interface BlobCount {
  readonly archives: number;
  readonly bytes: number;
}

export async function countBlobs(
  blobs: AsyncIterable<Pick<ListedBlob, "size">>,
): Promise<BlobCount> {
  let archives = 0;
  let bytes = 0;
  for await (const { size } of blobs) {
    archives++;
    bytes += size;
  }
  return { archives, bytes };
}

async function describe(
  layout: StoreLayout,
  path: string,
): Promise<ListedBlob | undefined> {
  const found = await lstat(path).catch(unlessMissing);
  if (found === undefined) return undefined;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const isBlob = isSha256(name) && blobPath(layout, name) === path;
  const sha256 = isBlob ? name : undefined;
  return { sha256, path, size: found.size, writtenAt: found.mtimeMs };
}
