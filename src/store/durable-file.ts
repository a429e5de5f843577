import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { constants } from "node:fs";

/**
 * Writes `bytes` whole under `to`, by way of `staged` on the same file system, so that they survive a power cut:
 * fsync(file), rename, fsync(folder). A failed fsync means the bytes may be lost, so the rename is not done.
 */
export async function writeDurably(
  staged: string,
  to: string,
  bytes: string | Uint8Array,
): Promise<void> {
  await using handle = await open(staged, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
    await makeFolder(dirname(to));
    await rename(staged, to);
    await syncFolder(dirname(to));
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  }
}

/** Each new folder is an entry of the one above it, which has to be synced for it to last. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; ; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === first) return;
  }
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}

/** Flags for reading a path that may be a link or a pipe by now: a link is not followed, a pipe not waited for. */
export const plainFileFlags =
  constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
