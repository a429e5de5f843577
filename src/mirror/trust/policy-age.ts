import pLimit from "p-limit";
import semver from "semver";
import type { Version } from "../../address/version.ts";

export type AgeDecision =
  | { readonly old: true }
  /** `availableAt` is undefined when nobody knows how old the version is. */
  | { readonly old: false; readonly availableAt: Date | undefined };

interface AgeQuestion {
  /** Milliseconds; 0 asks for nothing. */
  readonly minimumAge: number;
  /** No list ever showed the version, so that nothing dates it but what its publisher claims. */
  readonly isUnlisted: boolean;
  /** The signature's creation time, as the publisher claims it. */
  readonly signedAt: Date | undefined;
  /** When the version appeared in a list that the mirror already knew; undefined when it was in the first one. */
  readonly seenAt: Date | undefined;
  readonly now: Date;
}

/** Release lines whose ages are looked up at once. */
const linesAtOnce = 8;

/**
 * Age counts from the later of the two dates: a publisher can write an old date into a signature, but not into the mirror's memory. A
 * version without a date, or with one that lies ahead, is held back.
 */
export function decideByAge(question: AgeQuestion): AgeDecision {
  const { minimumAge, isUnlisted, signedAt, seenAt, now } = question;
  if (minimumAge === 0) return { old: true };
  if (isUnlisted) return { old: false, availableAt: undefined };
  const dates = [signedAt, seenAt].flatMap((date) => date?.getTime() ?? []);
  // Without dates, or with an invalid one, this is an invalid date.
  const availableAt = new Date(Math.max(...dates) + minimumAge);
  if (now.getTime() >= availableAt.getTime()) return { old: true };
  const isKnown = !Number.isNaN(availableAt.getTime());
  return { old: false, availableAt: isKnown ? availableAt : undefined };
}

/**
 * Those of `versions` (newest first, the order is kept) that are old enough to be listed, at the price of few look-ups: each release line
 * (major.minor, prereleases included) is walked from its newest version down until one is old enough, and what is below that is taken to
 * be older. Rejects with the first failure of `isOldEnough`; no look-up starts after it.
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
