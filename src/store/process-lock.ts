import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** SQLITE_BUSY. */
const busy = 5;

export interface ProcessLock {
  release(): void;
  /** False once its file was removed or replaced, so that others can have the lock, too. */
  isInPlace(): boolean;
}

/** SQLite does not tell why it could not make a file. One that is there is not opened: closing it would end this process's lock. */
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
  makeFile(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === busy) return undefined;
    throw error;
  }
  // Others who can open it could hold it.
  chmodSync(path, 0o600);
  const { ino } = statSync(path);
  return {
    release: () => database.close(),
    isInPlace: () => statSync(path, { throwIfNoEntry: false })?.ino === ino,
  };
}
