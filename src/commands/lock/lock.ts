import { join } from "node:path";
import type { Platform } from "../../address/platform.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import {
  readRootDirectory,
  type ConfigurationRoot,
} from "../inputs/configuration-directory.ts";
import type { ModuleReading, NotCarried } from "../inputs/module-tree.ts";
import { lockFileName } from "../inputs/dependency-lock-file.ts";
import { findLockEntries } from "./entries.ts";
import { replaceLockFile } from "./file-write.ts";
import {
  formatLockFile,
  mergeEntries,
  missingHashes,
  type LockEntry,
} from "./lock-file-format.ts";
import type { LockSource } from "./source.ts";

interface LockParts {
  readonly source: LockSource;
  readonly modules: ModuleReading;
}

interface LockOptions {
  /** Each is where a client is run. */
  readonly directories: readonly string[];
  /** Platforms whose h1 is requested; `zh:` is for all. */
  readonly platforms: readonly Platform[];
  /** Writes nothing. */
  readonly check: boolean;
}

/**
 * `provender lock`: completes the dependency lock file of each directory.
 * Returns the exit status: 1 when something could not be found out, or with
 * `check` when something is missing; each such thing is named on standard error.
 */
export async function runLock(
  options: LockOptions,
  { source, modules }: LockParts,
  stderr: (text: string) => void,
): Promise<number> {
  let isGood = true;
  for (const directory of options.directories)
    try {
      const root = await readRootDirectory(directory, modules);
      const done = await lockRoot(root, options, source, stderr);
      isGood &&= done;
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      stderr(`${error.message}\n`);
      isGood = false;
    }
  return isGood ? 0 : 1;
}

/** Returns whether all is well. Throws an input error. */
async function lockRoot(
  root: ConfigurationRoot,
  { platforms, check }: LockOptions,
  source: LockSource,
  stderr: (text: string) => void,
): Promise<boolean> {
  const { directory } = root;
  const path = join(directory, lockFileName);
  const unusable = root.locks?.problems ?? [];
  // Clients read none of such a file, and writing it whole would lose entries.
  if (unusable.length > 0) {
    for (const { message } of unusable) stderr(`${message}\n`);
    return false;
  }
  const found = await findLockEntries(root, platforms, source);
  const problems = [...root.problems, ...found.problems];
  if (found.entries.length === 0 && problems.length === 0)
    throw failure(
      "input",
      directory,
      "no provider is locked or required",
      "give the directory of a configuration",
    );
  for (const { message } of problems) stderr(`${message}\n`);
  // A client knows the modules that it has locked.
  if (root.locks === undefined)
    root.notCarried.map(formatUnread).forEach(stderr);
  const missing = listMissing(root, found.entries);
  if (!check && missing.length > 0)
    await replaceLockFile(
      path,
      root.locks?.text,
      complete(root, found.entries),
    );
  stderr(describe(path, missing, check, problems.length));
  return problems.length === 0 && (!check || missing.length === 0);
}

function formatUnread({ where, source, because }: NotCarried): string {
  return `${where}: what "${source}" requires is not seen: ${because}.\n`;
}

/** Keeps the client that a file names as its own. */
function complete(
  { locks, client }: ConfigurationRoot,
  entries: readonly LockEntry[],
): string {
  const [, named = client] =
    /^# This file is maintained automatically by "(terraform|tofu) init"/.exec(
      locks?.text ?? "",
    ) ?? [];
  const writer = named === "tofu" ? "tofu" : "terraform";
  return formatLockFile(writer, mergeEntries(locks?.locks ?? [], entries));
}

interface Missing {
  readonly entry: LockEntry;
  readonly hashes: readonly string[];
}

function listMissing(
  { locks }: ConfigurationRoot,
  entries: readonly LockEntry[],
): readonly Missing[] {
  const known = new Map(locks?.locks.map((lock) => [lock.name, lock]));
  return entries
    .map((entry) => ({
      entry,
      hashes: missingHashes(
        known.get(entry.name) ?? { hashes: [] },
        entry.hashes,
      ),
    }))
    .filter(({ hashes }) => hashes.length > 0)
    .toSorted((a, b) => (a.entry.name < b.entry.name ? -1 : 1));
}

function describe(
  path: string,
  missing: readonly Missing[],
  check: boolean,
  problems: number,
): string {
  if (missing.length === 0) return problems > 0 ? "" : `${path} is complete.\n`;
  const lines = missing.map(({ entry: { name, version }, hashes }) => {
    const count = `${hashes.length} ${hashes.length === 1 ? "hash" : "hashes"}`;
    return check
      ? `${path}: ${name} ${version} lacks ${count}: ${hashes.join(", ")}\n`
      : `${path}: ${count} added to ${name} ${version}\n`;
  });
  return lines.join("");
}
