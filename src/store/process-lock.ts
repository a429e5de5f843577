import { DatabaseSync } from "node:sqlite";

/** SQLITE_BUSY. */
const busy = 5;

/**
 * Takes the exclusive lock that the file at `path` stands for, or returns
 * undefined while another process or another holder of this one has it. It is
 * SQLite's, a lock of the kernel, which ends with the process: a killed one
 * leaves none behind. Throws what opening the file throws.
 */
export function tryLock(path: string): { release(): void } | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === busy) return undefined;
    throw error;
  }
  return { release: () => database.close() };
}
