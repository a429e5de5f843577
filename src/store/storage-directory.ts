import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import {
  access,
  constants,
  mkdir,
  readdir,
  readFile,
  rm,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { failure, ProvenderError } from "../errors/index.ts";
import { writeDurably } from "./durable-file.ts";
import { unlessMissing } from "./file-failure.ts";
import { layOutStore, stagingPath, type StoreLayout } from "./layout.ts";
import { actAsOwner } from "./storage-owner.ts";
import { DatabaseSync } from "node:sqlite";

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
  const { blobs, staging, decisions } = layout;
  for (const folder of [blobs, staging, dirname(decisions)]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  }
}

/** Removes what killed processes left in staging; call it with the lock. Returns how many. */
export async function sweepStaging({ staging }: StoreLayout): Promise<number> {
  const names = await readdir(staging);
  for (const name of names)
    await rm(join(staging, name), { force: true, recursive: true });
  return names.length;
}

/** Held by the one process that works on a directory. */
export interface StorageLock {
  /** False when the lock was removed and another process has it now; takes it again when it is free. */
  keep(): boolean;
  release(): void;
}

/**
 * Makes this process the only one that works on the directory until `release`
 * or its death; `work` is the command. Throws store-in-use.
 */
export function lockStorageDirectory(
  layout: StoreLayout,
  work: string,
): StorageLock {
  let lock = tryStorageLock(layout);
  if (lock === undefined)
    throw failure("store-in-use", readHolder(layout), layout.directory);
  nameHolder(layout, work);
  return {
    keep() {
      if (lock?.isInPlace() === true) return true;
      lock?.release();
      lock = tryStorageLock(layout);
      return lock !== undefined;
    },
    release: () => lock?.release(),
  };
}

/** Names this process for those that find the directory locked. */
function nameHolder({ holder }: StoreLayout, work: string): void {
  try {
    writeFileSync(holder, `${work} (process ${process.pid})`, { mode: 0o600 });
  } catch {
    // A full disk takes no name, and the lock counts all the same.
  }
}

function readHolder({ holder }: StoreLayout): string {
  try {
    return readFileSync(holder, "utf8") || "Another process";
  } catch {
    return "Another process";
  }
}

function tryStorageLock(layout: StoreLayout): ProcessLock | undefined {
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

/**
 * Version of the stores that this program writes. It grows when an older
 * program would misunderstand a store, or overlook parts of it.
 */
const storeVersion = 2;

const shape = z.object({ version: z.int().positive() });

/**
 * Refuses a store of another version, before anything in it is touched. A store without its file is of this one: a full
 * disk takes no mark. Throws store-too-new, store-too-old and store-version-unreadable.
 */
export async function checkStoreVersion(layout: StoreLayout): Promise<void> {
  const { directory } = layout;
  const version = (await readVersion(layout)) ?? storeVersion;
  if (version > storeVersion)
    throw failure("store-too-new", directory, version, storeVersion);
  if (version < storeVersion || existsSync(join(directory, "records")))
    throw failure("store-too-old", directory);
}

/** Says which version a store is of, once. A full disk leaves that to the next start, and what is there is served. */
async function markStoreVersion(layout: StoreLayout): Promise<void> {
  if ((await readVersion(layout)) === storeVersion) return;
  const text = `${JSON.stringify({ version: storeVersion })}\n`;
  await writeDurably(
    stagingPath(layout, "version"),
    layout.version,
    text,
  ).catch(() => undefined);
}

/** Undefined where nothing is said. */
async function readVersion({
  version,
}: StoreLayout): Promise<number | undefined> {
  const text = await readFile(version, "utf8").catch(unlessMissing);
  if (text === undefined) return undefined;
  try {
    return shape.parse(JSON.parse(text)).version;
  } catch (error) {
    throw failure("store-version-unreadable", version, storeVersion, {
      cause: error,
    });
  }
}

/** SQLITE_BUSY. */
const busy = 5;

interface ProcessLock {
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
function tryLock(path: string): ProcessLock | undefined {
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
