import {
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  statSync,
} from "node:fs";
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

/**
 * True when the system knows of a holder of the lock; takes and changes nothing,
 * so that nobody who wants it is in the way. False where the system does not tell.
 */
export function isLockHeld(path: string): boolean {
  try {
    const { dev, ino } = statSync(path);
    // Linux's st_dev of up to 32 bits (makedev(3)), as /proc/locks has it.
    const major = (dev >>> 8) & 0xfff;
    const minor = (dev & 0xff) | ((dev >>> 12) & 0xfff00);
    const [first, second] = [major, minor].map((part) =>
      part.toString(16).padStart(2, "0"),
    );
    const file = ` ${first}:${second}:${ino} `;
    const held = readFileSync("/proc/locks", "utf8").split("\n");
    return held.some((one) => one.includes(" WRITE ") && one.includes(file));
  } catch {
    return false;
  }
}
