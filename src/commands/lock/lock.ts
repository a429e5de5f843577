import { chmod, open, realpath, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import type { PackageHash } from "../../address/hash.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import {
  formatVersionConstraint,
  isAllowed,
} from "../../address/version-constraint.ts";
import type { Version } from "../../address/version.ts";
import {
  failure,
  type Failure,
  isFailure,
  ProvenderError,
} from "../../errors/index.ts";
import type { ReleaseAddress } from "../../mirror/releases/release.ts";
import { commitFile } from "../../store/durable-file.ts";
import {
  type ConfigurationRoot,
  readRootDirectory,
} from "../inputs/configuration-directory.ts";
import type { Requirement } from "../inputs/configuration-module.ts";
import {
  displayProvider,
  lockFileName,
  type ProviderLock,
} from "../inputs/dependency-lock-file.ts";
import { readInputFile } from "../inputs/input-file.ts";
import type { ModuleReading, NotCarried } from "../inputs/module-tree.ts";
import { chooseNewest, newestOf } from "../packages/version-choice.ts";

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

/** Returns whether all is well. */
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
      formatLockFile(
        root.client,
        mergeEntries(root.locks?.locks ?? [], found.entries),
      ),
    );
  stderr(describe(path, missing, check, problems.length));
  return problems.length === 0 && (!check || missing.length === 0);
}

function formatUnread({ where, source, because }: NotCarried): string {
  return `${where}: what "${source}" requires is not seen: ${because}.\n`;
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

/** Hashes of one version of a provider for a dependency lock file. */
export interface LockableRelease {
  /** `zh:` of every file that the publisher signed, or of every archive where only those are known. */
  readonly archiveHashes: readonly string[];
  /** All that the release has. */
  readonly platforms: readonly Platform[];
  /** The h1 of one platform's archive. */
  findPackageHash(platform: Platform): Promise<PackageHash>;
}

/**
 * Source of verified hashes for `lock`: the local store, or a running mirror.
 */
export interface LockSource {
  /** Newest first. */
  listVersions(provider: ProviderAddress): Promise<readonly Version[]>;
  findRelease(address: ReleaseAddress): Promise<LockableRelease>;
}

/**
 * Entries that a root's lock file should have, and the problems of finding
 * them.
 */
interface LockEntries {
  readonly entries: readonly LockEntry[];
  readonly problems: readonly ProvenderError[];
}

interface Target {
  readonly provider: ProviderAddress;
  readonly name: string;
  readonly version: Version;
  readonly constraints: string | undefined;
  /** Entry that the file has already. */
  readonly lock: ProviderLock | undefined;
}

/** Providers that are looked at at once; the mirror bounds the downloads itself. */
const atOnce = 16;

/**
 * Finds an entry for each locked or required provider. A failed one does not
 * stop the rest.
 */
async function findLockEntries(
  { locks, requirements }: ConfigurationRoot,
  platforms: readonly Platform[],
  source: LockSource,
): Promise<LockEntries> {
  const problems: ProvenderError[] = [];
  const entries: LockEntry[] = [];
  const note = (error: unknown) => {
    if (!(error instanceof ProvenderError)) throw error;
    problems.push(error);
  };
  const locked = locks?.locks ?? [];
  for (const lock of locked) expectCurrent(lock, requirements).forEach(note);
  const names = new Set(locked.map(({ name }) => name));
  const required = requirements.filter(({ name }) => !names.has(name));
  await pLimit(atOnce).map([...locked, ...required], async (one) => {
    try {
      const target =
        "version" in one ? { ...one, lock: one } : await choose(one, source);
      entries.push(await completeEntry(target, platforms, source, note));
    } catch (error) {
      note(error);
    }
  });
  return { entries, problems };
}

function expectCurrent(
  { name, version, where }: ProviderLock,
  requirements: readonly Requirement[],
): readonly Failure<"lock-outdated">[] {
  const required = requirements.find((one) => one.name === name);
  if (required === undefined || required.constraint.length === 0) return [];
  const { constraint } = required;
  if (isAllowed(constraint, version)) return [];
  const asked = formatVersionConstraint(constraint);
  return [failure("lock-outdated", where, name, version, asked)];
}

/** The version that a client would lock. */
async function choose(
  { provider, name, constraint, where }: Requirement,
  source: LockSource,
): Promise<Target> {
  const version = await chooseNewest(name, newestOf(constraint), where, () =>
    source.listVersions(provider),
  );
  const constraints =
    constraint.length === 0 ? undefined : formatVersionConstraint(constraint);
  return { provider, name, version, constraints, lock: undefined };
}

async function completeEntry(
  { provider, name, version, constraints, lock }: Target,
  platforms: readonly Platform[],
  source: LockSource,
  note: (error: unknown) => void,
): Promise<LockEntry> {
  const release = await source.findRelease({ provider, version });
  const hashes = [...release.archiveHashes];
  await Promise.all(
    platforms.map(async (platform) => {
      try {
        hashes.push(await release.findPackageHash(platform));
      } catch (error) {
        note(error);
      }
    }),
  );
  if (lock !== undefined) await expectSame(lock, release, hashes);
  return { name, version, constraints, hashes };
}

/** The h1 of a platform that was not asked for, if it has one. */
async function otherHash(
  release: LockableRelease,
  platform: Platform,
): Promise<readonly string[]> {
  try {
    return [await release.findPackageHash(platform)];
  } catch (error) {
    if (!isFailure(error, "archive-unhashable")) throw error;
    return [];
  }
}

/**
 * Requires the release to be the locked one, since other hashes would admit what was not locked. Behind a network
 * mirror clients lock a single h1, perhaps of a platform that was not requested.
 */
async function expectSame(
  { name, version, where, hashes }: ProviderLock,
  release: LockableRelease,
  found: readonly string[],
): Promise<void> {
  if (hashes.length === 0 || hashes.some((hash) => found.includes(hash)))
    return;
  const tried: string[] = [];
  if (hashes.some((hash) => hash.startsWith("h1:")))
    for (const platform of release.platforms.toSorted(commonFirst)) {
      const known = await otherHash(release, platform);
      if (known.some((hash) => hashes.includes(hash))) return;
      tried.push(...known);
    }
  const all = [...new Set([...found, ...tried])].toSorted();
  throw failure("lock-mismatch", `${name} ${version}`, where, hashes, all);
}

const common = ["linux_amd64", "darwin_arm64", "windows_amd64", "darwin_amd64"];

function commonFirst(a: Platform, b: Platform): number {
  const rank = (platform: Platform) => {
    const index = common.indexOf(formatPlatform(platform));
    return index < 0 ? common.length : index;
  };
  return rank(a) - rank(b);
}

/** Mode of a new file, before the umask. */
const newMode = 0o644;

/** Replaces a file in one step and keeps its mode. `before` is the text that was read, undefined for no file. */
export async function replaceLockFile(
  path: string,
  before: string | undefined,
  text: string,
): Promise<void> {
  // The file behind a link is replaced, not the link.
  const target = await realpath(path).catch(() => path);
  const staged = `${target}.${crypto.randomUUID()}.tmp`;
  try {
    const known = await stat(target).catch(() => undefined);
    const file = await open(staged, "wx", newMode);
    try {
      if (known !== undefined) await chmod(staged, known.mode & 0o7777);
      await file.writeFile(text);
      await expectUnchanged(path, before);
      await commitFile(file, staged, target);
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(staged, { force: true }).catch(() => undefined);
    if (isFailure(error, "input")) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = `it cannot be written (${code ?? message})`;
    throw failure("input", path, problem, "check its directory and the disk", {
      cause: error,
    });
  }
}

async function expectUnchanged(
  path: string,
  before: string | undefined,
): Promise<void> {
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  const now = exists ? await readInputFile(path) : undefined;
  if (now !== before)
    throw failure("input", path, "it was changed meanwhile", "run this again");
}

/** The content of a provider's entry; `name` is HOSTNAME/NAMESPACE/TYPE. */
export interface LockEntry {
  readonly name: string;
  readonly version: Version;
  /** Constraints in canonical form; undefined when any version is allowed. */
  readonly constraints: string | undefined;
  readonly hashes: readonly string[];
}

/** Adds `entries` to those of a file. Version and constraints of an entry that is there already stay as they are. */
export function mergeEntries(
  locks: readonly LockEntry[],
  entries: readonly LockEntry[],
): readonly LockEntry[] {
  const merged = new Map(locks.map((lock) => [lock.name, lock]));
  for (const entry of entries) {
    const lock = merged.get(entry.name) ?? entry;
    const hashes = [...lock.hashes, ...entry.hashes];
    merged.set(entry.name, { ...lock, hashes });
  }
  return [...merged.values()];
}

/** Writes a whole file as `client` does (depsfile, "SaveLocksToBytes"). */
export function formatLockFile(
  client: "terraform" | "tofu",
  entries: readonly LockEntry[],
): string {
  const blocks = entries
    .toSorted((a, b) => compareNames(a.name, b.name))
    .map((entry) => `\n${formatEntry(entry)}\n`);
  return `# This file is maintained automatically by "${client} init".\n# Manual edits may be lost in future updates.\n${blocks.join("")}`;
}

/** Lists the hashes that the file's entry lacks, sorted. */
function missingHashes(
  lock: Pick<ProviderLock, "hashes">,
  hashes: readonly string[],
): readonly string[] {
  const known = new Set(lock.hashes);
  return [...new Set(hashes)].filter((hash) => !known.has(hash)).toSorted();
}

/** Orders addresses by hostname, then namespace, then type. */
function compareNames(a: string, b: string): number {
  const [as, bs] = [a.split("/"), b.split("/")];
  const index = as.findIndex((part, position) => part !== bs[position]);
  return index < 0 ? 0 : (as[index] ?? "") < (bs[index] ?? "") ? -1 : 1;
}

function formatEntry({
  name,
  version,
  constraints,
  hashes,
}: LockEntry): string {
  const lines =
    constraints === undefined
      ? [`  version = "${version}"`]
      : [`  version     = "${version}"`, `  constraints = "${constraints}"`];
  const list = hashes.length === 0 ? [] : [formatHashes(hashes)];
  return [`provider "${displayProvider(name)}" {`, ...lines, ...list, "}"].join(
    "\n",
  );
}

function formatHashes(hashes: readonly string[]): string {
  const sorted = [...new Set(hashes)].toSorted();
  const items = sorted.map((hash) => `    "${hash}",\n`);
  return `  hashes = [\n${items.join("")}  ]`;
}
