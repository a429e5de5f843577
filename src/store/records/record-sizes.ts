import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { classifyFileFailure } from "../file-failure.ts";
import type { StoreLayout } from "../layout.ts";

/** Unit of stat(2) in bytes, independent of the file system's own blocks. */
const block = 512;
/** Looks at files under way at once; more would take the threads from requests. */
const atOnce = 4;

/** Bytes of disk that everything in the folders of records takes; what leaves meanwhile takes nothing. */
export async function measureRecords({
  records,
  recordCopies,
}: StoreLayout): Promise<number> {
  return (await measureFolder(records)) + (await measureFolder(recordCopies));
}

/** A small file takes a whole block, and one that the file system keeps beside its name takes its own bytes. */
export async function measureFile(path: string): Promise<number> {
  try {
    const { size, blocks } = await lstat(path);
    return Math.max(size, blocks * block);
  } catch (error) {
    return zeroIfGone(error);
  }
}

async function measureFolder(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(
    (error: unknown) => {
      zeroIfGone(error);
      return [];
    },
  );
  let bytes = 0;
  const files: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await measureFolder(path);
    else files.push(path);
  }
  for (let from = 0; from < files.length; from += atOnce) {
    const some = files.slice(from, from + atOnce).map(measureFile);
    for (const size of await Promise.all(some)) bytes += size;
  }
  return bytes;
}

/** Throws what only passes, such as having no descriptor left. */
function zeroIfGone(error: unknown): 0 {
  const failure = classifyFileFailure(error);
  if (failure !== "missing" && failure !== "broken") throw error;
  return 0;
}
