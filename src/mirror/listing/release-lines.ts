import pLimit from "p-limit";
import semver from "semver";
import type { Version } from "../../address/version.ts";

/** Release lines whose ages are looked up at once. */
const linesAtOnce = 8;

/**
 * Keeps those of `versions` (newest first, the order is kept) that are old
 * enough to be listed, with few look-ups. Each release line (major.minor,
 * prereleases included) is walked from its newest version down until one is old
 * enough. The versions below it are taken to be older. Rejects with the first
 * failure of `isOldEnough`; no look-up starts after it.
 */
export async function keepOldEnough(
  versions: readonly Version[],
  isOldEnough: (version: Version) => Promise<boolean>,
): Promise<readonly Version[]> {
  let failed = false;
  const ask = async (version: Version) => {
    try {
      return await isOldEnough(version);
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  const walk = async (line: readonly Version[]) => {
    for (const [index, version] of line.entries()) {
      if (failed) return [];
      if (await ask(version)) return line.slice(index);
    }
    return [];
  };
  const lines = listReleaseLines(versions);
  const kept = await pLimit(linesAtOnce).map(lines, walk);
  const old = new Set(kept.flat());
  return versions.filter((version) => old.has(version));
}

function listReleaseLines(
  versions: readonly Version[],
): readonly (readonly Version[])[] {
  const lines = Map.groupBy(versions, (version) => {
    const { major, minor } = new semver.SemVer(version);
    return `${major}.${minor}`;
  });
  return [...lines.values()];
}
