import { mkdirSync } from "node:fs";
import { access, constants, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreInUse, StoreUnusable } from "../errors/index.ts";
import type { StoreLayout } from "./layout.ts";

/** Makes the folders of a store; throws StoreUnusable when they cannot be made or written. */
export async function prepareStorageDirectory(
  layout: StoreLayout,
): Promise<void> {
  try {
    const { blobs, records, staging, audit } = layout;
    for (const folder of [blobs, records, staging, dirname(audit.requests)]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    }
  } catch (error) {
    throw new StoreUnusable(layout.directory, reasonOf(error), {
      cause: error,
    });
  }
}

/**
 * Makes this process the one daemon of the directory until `release` or its
 * death: SQLite's exclusive lock is a lock of the kernel, which ends with the
 * process, so a killed daemon never leaves one behind. Throws StoreInUse.
 */
export function lockStorageDirectory(layout: StoreLayout): {
  release(): void;
} {
  mkdirSync(layout.directory, { recursive: true, mode: 0o700 });
  const database = openLock(layout);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    throw (error as { errcode?: number }).errcode === busy
      ? new StoreInUse(layout.directory)
      : new StoreUnusable(layout.directory, reasonOf(error), { cause: error });
  }
  return { release: () => database.close() };
}

const busy = 5;

function openLock(layout: StoreLayout): DatabaseSync {
  try {
    return new DatabaseSync(layout.lock, { timeout: 0 });
  } catch (error) {
    throw new StoreUnusable(layout.directory, reasonOf(error), {
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
