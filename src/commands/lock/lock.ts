import { chmod, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import { loadConfiguration } from "../../config/load.ts";
import { failure, isFailure, ProvenderError } from "../../errors/index.ts";
import { platformsOf, untilStopped } from "../command.ts";
import {
  clientOf,
  formatLockFile,
  lockFileName,
  type ProviderLock,
  readLockFile,
} from "../inputs/dependency-lock-file.ts";
import { readInputFile } from "../inputs/input-file.ts";
import {
  type MirrorFlags,
  nameLocalMirror,
  nameMirror,
  openNamed,
} from "../named-mirror.ts";
import { stderr } from "../output/report.ts";
import { AskedMirror, type MirroredRelease } from "./asked-mirror.ts";

interface LockFlags extends MirrorFlags {
  /** Each is where a client is run. */
  readonly dir: readonly string[];
  /** Whose h1 is requested; `zh:` is for all. */
  readonly platform?: readonly string[];
  readonly check?: boolean;
}

/**
 * `provender lock`: completes the dependency lock file of each directory, from the mirror that `--mirror` names, else that
 * of the configuration, to which no proxy leads. Returns 1 when something could not be found out, or with `--check` when
 * something is missing; each such thing is named on standard error.
 */
export async function lock(flags: LockFlags): Promise<number> {
  const named = nameMirror(flags);
  const configuration = loadConfiguration({ file: flags.config });
  const platforms = platformsOf(flags.platform, configuration);
  const { limits } = configuration;
  const direct = { https: undefined, no: undefined };
  const proxy = named === undefined ? direct : configuration.proxy;
  const asked = named ?? nameLocalMirror(configuration);
  const http = openNamed({ limits, proxy }, asked);
  await using mirror = new AskedMirror(http, asked.base, untilStopped());
  let isGood = true;
  for (const directory of flags.dir)
    try {
      const check = flags.check === true;
      isGood =
        (await lockDirectory(directory, platforms, check, mirror)) && isGood;
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
  platforms: readonly Platform[],
  check: boolean,
  mirror: AskedMirror,
): Promise<boolean> {
  const path = join(directory, lockFileName);
  if (!(await stat(path).then(Boolean, () => false)))
    throw failure(
      "input",
      path,
      "it is not there",
      'run "init" of your client first',
    );
  const file = await readLockFile(path);
  // Clients read none of such a file, and writing it whole would lose entries.
  if (file.problems.length > 0) {
    for (const { message } of file.problems) stderr(`${message}\n`);
    return false;
  }
  const problems: ProvenderError[] = [];
  const locks = await pLimit(atOnce).map(file.locks, async (lock) => {
    const found = await findHashes(lock, platforms, mirror, problems);
    const has = new Set(lock.hashes);
    const lacking = [...new Set(found)].filter((hash) => !has.has(hash));
    return { ...lock, lacking: lacking.toSorted() };
  });
  for (const { message } of problems) stderr(`${message}\n`);
  const missing = locks.filter(({ lacking }) => lacking.length > 0);
  if (!check && missing.length > 0) {
    const completed = locks.map(({ lacking, ...lock }) => {
      return { ...lock, hashes: [...lock.hashes, ...lacking] };
    });
    const text = formatLockFile(clientOf(file), completed);
    await replaceLockFile(path, file.text, text);
  }
  for (const { name, version, lacking } of missing) {
    const count = `${lacking.length} ${lacking.length === 1 ? "hash" : "hashes"}`;
    stderr(
      check
        ? `${path}: ${name} ${version} lacks ${count}: ${lacking.join(", ")}\n`
        : `${path}: ${count} added to ${name} ${version}\n`,
    );
  }
  if (missing.length + problems.length === 0) stderr(`${path} is complete.\n`);
  return problems.length === 0 && (!check || missing.length === 0);
}

/** Providers that are looked at at once; the mirror bounds the downloads itself. */
const atOnce = 16;

/** Finds the hashes of a locked provider; what cannot be found is among the problems. */
async function findHashes(
  lock: ProviderLock,
  platforms: readonly Platform[],
  mirror: AskedMirror,
  problems: ProvenderError[],
): Promise<readonly string[]> {
  const note = (error: unknown) => {
    if (!(error instanceof ProvenderError)) throw error;
    problems.push(error);
  };
  try {
    const release = await mirror.findRelease(lock);
    const hashes = [...release.archiveHashes];
    const asked = platforms.map(formatPlatform);
    await Promise.all(
      asked.map((platform) =>
        release.findPackageHash(platform).then((h1) => hashes.push(h1), note),
      ),
    );
    await expectSame(lock, release, hashes, asked);
    return hashes;
  } catch (error) {
    note(error);
    return [];
  }
}

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
  if (hashes.some((hash) => hash.startsWith("h1:")))
    for (const platform of release.platforms.filter(
      (one) => !asked.includes(one),
    ))
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

/** Replaces a file in one step and keeps its mode. `before` is the text that was read. */
export async function replaceLockFile(
  path: string,
  before: string,
  text: string,
): Promise<void> {
  // The file behind a link is replaced, not the link.
  const target = await realpath(path).catch(() => path);
  const staged = `${target}.${crypto.randomUUID()}.tmp`;
  try {
    const { mode } = await stat(target);
    await writeFile(staged, text, { flag: "wx", mode: 0o600, flush: true });
    await chmod(staged, mode & 0o7777);
    const problem = "it was changed meanwhile";
    if ((await readInputFile(path)) !== before)
      throw failure("input", path, problem, "run this again");
    await rename(staged, target);
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
