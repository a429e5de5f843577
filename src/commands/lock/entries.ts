import pLimit from "p-limit";
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
import type { ConfigurationRoot } from "../inputs/configuration-directory.ts";
import type { Requirement } from "../inputs/configuration-module.ts";
import type { ProviderLock } from "../inputs/dependency-lock-file.ts";
import type { LockEntry } from "./lock-file-format.ts";
import type { LockableRelease, LockSource } from "./source.ts";
import { chooseNewest, newestOf } from "../packages/version-choice.ts";

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
export async function findLockEntries(
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
 * Requires the release to be the locked one, since other hashes would admit
 * what was not locked. Behind a network mirror clients lock a single h1,
 * perhaps of a platform that was not requested. Throws lock-mismatch.
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
