import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** SQLITE_BUSY. */
const busy = 5;

export interface ProcessLock {
  release(): void;
  /**
   * Returns false once its file was removed or replaced, so that another
   * process can have the lock, too.
   */
  isInPlace(): boolean;
}

/**
 * Makes the file, as SQLite hides why it could not. An existing one is not
 * opened: closing it would release this process's lock.
 */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/**
 * Takes the exclusive lock that the file at `path` stands for, or returns
 * undefined while another process or another holder of this one has it. It is
 * SQLite's, a lock of the kernel, which ends with the process: a killed one
 * leaves none behind. Throws what opening the file throws.
 */
export function tryLock(path: string): ProcessLock | undefined {
  const { database, ino } = openLock(path);
  if (!tryBegin(database)) {
    database.close();
    return undefined;
  }
  // Other users that can open it could hold it.
  chmodSync(path, 0o600);
  return { release: () => database.close(), isInPlace: () => isAt(path, ino) };
}

function openLock(path: string) {
  makeFile(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  return { database, ino: statSync(path).ino };
}

function isAt(path: string, ino: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === ino;
}

/** False while another holder has it; closes the file and throws what else goes wrong. */
function tryBegin(database: DatabaseSync): boolean {
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false;
    database.close();
    throw error;
  }
}
