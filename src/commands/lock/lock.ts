import { chmod, open, realpath, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatVersionConstraint,
  isAllowed,
  type VersionConstraint,
} from "../../address/version-constraint.ts";
import {
  failure,
  type Failure,
  isFailure,
  ProvenderError,
} from "../../errors/index.ts";
import { commitFile } from "../../store/durable-file.ts";
import {
  type ConfigurationRoot,
  readRootDirectory,
} from "../inputs/configuration.ts";
import {
  formatLockFile,
  type LockEntry,
  lockFileName,
  mergeEntries,
  type ProviderLock,
} from "../inputs/dependency-lock-file.ts";
import { readInputFile } from "../inputs/input-file.ts";
import type { Requirement } from "../inputs/modules.ts";
import { chooseVersions, newestOf } from "../packages/version-choice.ts";
import type { AskedMirror, MirroredRelease } from "./asked-mirror.ts";

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
  mirror: AskedMirror,
  stderr: (text: string) => void,
): Promise<number> {
  let isGood = true;
  for (const directory of options.directories)
    try {
      const done = await lockDirectory(directory, options, mirror, stderr);
      isGood &&= done;
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      stderr(`${error.message}\n`);
      isGood = false;
    }
  return isGood ? 0 : 1;
}

/** Returns whether all is well. */
async function lockDirectory(
  directory: string,
  { platforms, check }: LockOptions,
  mirror: AskedMirror,
  stderr: (text: string) => void,
): Promise<boolean> {
  const path = join(directory, lockFileName);
  const root = await readRootDirectory(directory, mirror.openModule);
  const unusable = root.locks?.problems ?? [];
  // Clients read none of such a file, and writing it whole would lose entries.
  if (unusable.length > 0) {
    for (const { message } of unusable) stderr(`${message}\n`);
    return false;
  }
  const problems = [...root.problems];
  const entries = await findEntries(root, platforms, mirror, problems);
  if (entries.length === 0 && problems.length === 0)
    throw failure(
      "input",
      directory,
      "no provider is locked or required",
      "give the directory of a configuration",
    );
  for (const { message } of problems) stderr(`${message}\n`);
  // A client knows the modules that it has locked.
  if (root.locks === undefined)
    for (const { where, source, because } of root.notCarried)
      stderr(`${where}: what "${source}" requires is not seen: ${because}.\n`);
  const locks = root.locks?.locks ?? [];
  const missing = listMissing(locks, entries);
  if (!check && missing.length > 0) {
    const merged = mergeEntries(locks, entries);
    const text = formatLockFile(root.client, merged);
    await replaceLockFile(path, root.locks?.text, text);
  }
  for (const { name, version, hashes } of missing) {
    const count = `${hashes.length} ${hashes.length === 1 ? "hash" : "hashes"}`;
    stderr(
      check
        ? `${path}: ${name} ${version} lacks ${count}: ${hashes.join(", ")}\n`
        : `${path}: ${count} added to ${name} ${version}\n`,
    );
  }
  if (missing.length + problems.length === 0) stderr(`${path} is complete.\n`);
  return problems.length === 0 && (!check || missing.length === 0);
}

/** The entries with only the hashes that the file lacks. */
function listMissing(
  locks: readonly LockEntry[],
  entries: readonly LockEntry[],
): readonly LockEntry[] {
  const known = new Map(locks.map((lock) => [lock.name, new Set(lock.hashes)]));
  return entries
    .map((entry) => {
      const has = known.get(entry.name);
      const lacking = [...new Set(entry.hashes)].filter((h) => !has?.has(h));
      return { ...entry, hashes: lacking.toSorted() };
    })
    .filter(({ hashes }) => hashes.length > 0)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Providers that are looked at at once; the mirror bounds the downloads itself. */
const atOnce = 16;

/** Finds an entry for each locked or required provider. A failed one does not stop the rest, and is among the problems. */
async function findEntries(
  { locks, requirements }: ConfigurationRoot,
  platforms: readonly Platform[],
  mirror: AskedMirror,
  problems: ProvenderError[],
): Promise<readonly LockEntry[]> {
  const entries: LockEntry[] = [];
  const note = (error: unknown) => {
    if (!(error instanceof ProvenderError)) throw error;
    problems.push(error);
  };
  const required = new Map(requirements.map((one) => [one.name, one]));
  const wanted: (ProviderLock | Requirement)[] = [];
  for (const lock of locks?.locks ?? []) {
    const { constraint = [] } = required.get(lock.name) ?? {};
    required.delete(lock.name);
    wanted.push(lock);
    if (constraint.length > 0 && !isAllowed(constraint, lock.version))
      problems.push(outdated(lock, constraint));
  }
  wanted.push(...required.values());
  await pLimit(atOnce).map(wanted, async (one) => {
    try {
      const chosen = "version" in one ? one : await choose(one, mirror);
      const release = await mirror.findRelease(chosen);
      const hashes = [...release.archiveHashes];
      const asked = platforms.map(formatPlatform);
      await Promise.all(
        asked.map((platform) =>
          release.findPackageHash(platform).then((h1) => hashes.push(h1), note),
        ),
      );
      if ("version" in one) await expectSame(one, release, hashes, asked);
      entries.push({ ...chosen, hashes });
    } catch (error) {
      note(error);
    }
  });
  return entries;
}

function outdated(
  { name, version, where }: ProviderLock,
  constraint: VersionConstraint,
): Failure<"lock-outdated"> {
  const asked = formatVersionConstraint(constraint);
  return failure("lock-outdated", where, name, version, asked);
}

/** The version that a client would lock. */
async function choose(
  { provider, name, constraint, where }: Requirement,
  mirror: AskedMirror,
) {
  const [version] = await chooseVersions(
    name,
    newestOf(constraint),
    where,
    () => mirror.listVersions(provider),
  );
  const constraints =
    constraint.length === 0 ? undefined : formatVersionConstraint(constraint);
  return { provider, name, version, constraints };
}

const common = ["linux_amd64", "darwin_arm64", "windows_amd64", "darwin_amd64"];

/**
 * Requires the release to be the locked one, since other hashes would admit what was not locked. Behind a network
 * mirror clients lock a single h1, perhaps of a platform that was not requested.
 */
async function expectSame(
  { name, version, where, hashes }: ProviderLock,
  release: MirroredRelease,
  found: readonly string[],
  asked: readonly string[],
): Promise<void> {
  const isKnown = (hash: string) => hashes.includes(hash);
  if (hashes.length === 0 || found.some(isKnown)) return;
  const tried = new Set(found);
  const others = release.platforms.filter((one) => !asked.includes(one));
  if (hashes.some((hash) => hash.startsWith("h1:")))
    for (const platform of [
      ...common.filter((one) => others.includes(one)),
      ...others.filter((one) => !common.includes(one)),
    ])
      try {
        const h1 = await release.findPackageHash(platform);
        if (isKnown(h1)) return;
        tried.add(h1);
      } catch (error) {
        if (!isFailure(error, "archive-unhashable")) throw error;
      }
  const all = [...tried].toSorted();
  throw failure("lock-mismatch", `${name} ${version}`, where, hashes, all);
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
