import {
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  statSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { failure } from "../errors/index.ts";

/** SQLITE_BUSY. */
const busy = 5;

/** Milliseconds between two tries, at most. */
const longestPause = 20;

/** Milliseconds after which waiting for another process is given up; it holds a lock while it writes some small files. */
const patience = 20_000;

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

/**
 * Repeats at least once and until `end`, of `performance.now()`: other
 * processes hold the lock for `subject` only for moments. Throws too-busy.
 */
export async function waitForLock<T>(
  tryIt: () => T | undefined,
  subject: string,
  end = performance.now() + patience,
): Promise<T> {
  for (;;) {
    const lock = tryIt();
    if (lock !== undefined) return lock;
    if (performance.now() > end) throw failure("too-busy", subject);
    // The pause is random, so that waiting processes do not collide again.
    await pause(1 + Math.random() * longestPause);
  }
}

/** A lock that a process takes again and again: its file stays open, because opening it takes six times as long as taking it. */
export class OpenLock {
  readonly #path: string;
  #file: { readonly database: DatabaseSync; readonly ino: number } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Runs one call at a time; `subject` is the purpose for which other processes
   * hold it. Throws too-busy when another process keeps the lock.
   */
  async hold<T>(subject: string, work: () => Promise<T>): Promise<T> {
    const database = await waitForLock(() => this.#try(), subject);
    try {
      return await work();
    } finally {
      database.exec("ROLLBACK");
    }
  }

  #try(): DatabaseSync | undefined {
    const { database, ino } = (this.#file ??= openLock(this.#path));
    try {
      if (!tryBegin(database)) return undefined;
      if (isAt(this.#path, ino)) return database;
    } catch (error) {
      this.#file = undefined;
      throw error;
    }
    // It was removed, and another process has a new one.
    database.close();
    this.#file = undefined;
    return undefined;
  }
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

/**
 * Returns true when the system knows a holder of the lock. It takes and changes
 * nothing, so it delays no other process. False where the system has no such
 * list.
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
