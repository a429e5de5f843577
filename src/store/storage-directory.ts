import { statSync } from "node:fs";
import { access, constants, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { failure } from "../errors/index.ts";
import { unlessMissing } from "./file-failure.ts";
import { layOutStore, type StoreLayout } from "./layout.ts";

/** Limits in bytes; `maxSize` is undefined for unlimited. */
export interface DirectoryLimits {
  readonly maxSize: number | undefined;
  readonly minFree: number;
}

/** Opens a storage directory as its owner, for a command. Throws what `actAsOwner` and `prepareStorageDirectory` throw. */
export async function openStorageDirectory(
  directory: string,
): Promise<StoreLayout> {
  const layout = layOutStore(directory);
  actAsOwner(layout);
  await prepareStorageDirectory(layout);
  return layout;
}

/** Makes the folders of a store. Throws store-unusable when they cannot be made or written. */
export async function prepareStorageDirectory(
  layout: StoreLayout,
): Promise<void> {
  const { directory, blobs, staging, decisions } = layout;
  try {
    for (const folder of [blobs, staging, dirname(decisions)]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    }
  } catch (cause) {
    const { message } = cause as Error;
    throw failure("store-unusable", directory, message, { cause });
  }
}

/**
 * Makes this process act as the owner of a store, so that a daemon can use every file that it leaves there: started as root,
 * it takes the owner's user and group for good, without other groups and without capabilities. Nothing happens where there
 * is no store yet, nor where users have no numbers. Throws store-owned-by-another for any other user but the owner.
 */
export function actAsOwner(layout: StoreLayout): void {
  const user = process.geteuid?.();
  const owner = ownerOf(layout.database) ?? ownerOf(layout.directory);
  if (user === undefined || owner === undefined || owner.uid === user) return;
  try {
    process.setgroups?.([owner.gid]);
    process.setgid?.(owner.gid);
    process.setuid?.(owner.uid);
  } catch (cause) {
    const { directory } = layout;
    throw failure("store-owned-by-another", directory, owner.uid, user, {
      cause,
    });
  }
}

/** Undefined for what is not there or not to be seen, which the folder above it tells. */
function ownerOf(path: string) {
  try {
    const { uid, gid } = statSync(path);
    return { uid, gid };
  } catch {
    return undefined;
  }
}

/** Milliseconds after which what another process is said to use is left over. */
const mostAge = 24 * 60 * 60 * 1000;

/** Removes what killed processes left in staging, before this one puts something there. Returns how many. */
export async function sweepStaging({ staging }: StoreLayout): Promise<number> {
  let removed = 0;
  for (const name of await readdir(staging)) {
    const path = join(staging, name);
    if (await isInUse(path, name)) continue;
    await rm(path, { force: true, recursive: true });
    removed++;
  }
  return removed;
}

/** True for what a process that runs put there lately; its number may be another one's by now. */
async function isInUse(path: string, name: string): Promise<boolean> {
  const user = Number(/^[a-z]+-(\d+)-/.exec(name)?.[1]);
  if (!(user > 0) || !isRunning(user)) return false;
  const found = await lstat(path).catch(unlessMissing);
  return found !== undefined && Date.now() - found.mtimeMs < mostAge;
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
