import { mkdirSync } from "node:fs";
import { access, constants, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { failure, ProvenderError } from "../errors/index.ts";
import { layOutStore, type StoreLayout } from "./layout.ts";
import { isLockHeld, tryLock, type ProcessLock } from "./process-lock.ts";
import { checkStoreVersion, markStoreVersion } from "./store-version.ts";

/** Limits in bytes; `maxSize` is undefined for unlimited. */
export interface DirectoryLimits {
  readonly maxSize: number | undefined;
  readonly minFree: number;
}

/**
 * Makes the folders of a store. Throws store-unusable when they cannot be made or
 * written, and store-too-new or store-version-unreadable before anything is touched.
 */
export async function prepareStorageDirectory(
  layout: StoreLayout,
): Promise<void> {
  try {
    await checkStoreVersion(layout);
    await makeFolders(layout);
    await markStoreVersion(layout);
  } catch (error) {
    if (error instanceof ProvenderError) throw error;
    throw failure("store-unusable", layout.directory, reasonOf(error), {
      cause: error,
    });
  }
}

async function makeFolders(layout: StoreLayout): Promise<void> {
  const { blobs, records, recordCopies, locks, staging, audit } = layout;
  const kept = [blobs, records, recordCopies, locks];
  for (const folder of [...kept, staging, dirname(audit.requests)]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  }
}

/**
 * Finds the one of these directories that a daemon works on, while none works
 * on this one; undefined where that is unknown.
 */
export function findServedElsewhere(
  own: StoreLayout,
  directories: readonly string[],
): string | undefined {
  if (isLockHeld(own.lock)) return undefined;
  return directories.find((directory) =>
    isLockHeld(layOutStore(directory).lock),
  );
}

/** Held by the one daemon of a directory. */
export interface DaemonLock {
  /** False when the lock was removed and another daemon has it now; takes it again when it is free. */
  keep(): boolean;
  release(): void;
}

/**
 * Makes this process the one daemon of the directory until `release` or its
 * death. Throws store-in-use.
 */
export function lockStorageDirectory(layout: StoreLayout): DaemonLock {
  let lock = tryDaemonLock(layout);
  if (lock === undefined) throw failure("store-in-use", layout.directory);
  return {
    keep() {
      if (lock?.isInPlace() === true) return true;
      lock?.release();
      lock = tryDaemonLock(layout);
      return lock !== undefined;
    },
    release: () => lock?.release(),
  };
}

function tryDaemonLock(layout: StoreLayout): ProcessLock | undefined {
  try {
    mkdirSync(layout.directory, { recursive: true, mode: 0o700 });
    return tryLock(layout.lock);
  } catch (error) {
    throw failure("store-unusable", layout.directory, reasonOf(error), {
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
