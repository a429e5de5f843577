import type { Version } from "../../address/version.ts";
import { isFailure, ProvenderError } from "../../errors/index.ts";
import { listApproved } from "../../trust/decisions.ts";
import type { Clock } from "../cache/clock.ts";
import type { VersionList } from "../versions/version-list.ts";
import {
  leaveOutRefused,
  leaveOutYoung,
  type LeftOut,
} from "../trust/left-out.ts";
import {
  type ProviderRequest,
  type ReleaseRequest,
  requestVersion,
} from "../trust/request.ts";
import { saysNothing } from "../standings/candidate-failures.ts";
import pLimit from "p-limit";
import semver from "semver";
import { inTime } from "../../concurrency/in-time.ts";
import type { SettledRelease } from "../trust/settlements.ts";
import type { Standings } from "../standings/standings.ts";

/** Version list under inspection, and the look-ups for it. */
interface Looking {
  readonly list: VersionList;
  readonly looks: LookUps;
}

/**
 * Listable versions, newest first, and those that rules or keys refuse. Where
 * the policy only reports, a refused version is listed too.
 */
export interface JudgedVersions {
  readonly versions: readonly Version[];
  readonly refused: readonly LeftOut[];
}

/**
 * Versions that are listed once they are old enough, by the minimum age in
 * milliseconds.
 */
interface Ageing extends JudgedVersions {
  readonly byMinimumAge: ReadonlyMap<number, readonly Version[]>;
}

/**
 * Keeps versions that are old enough. Release lines are walked apart for each
 * minimum age, because a version before an old one may need a higher age.
 */
export async function keepOld(
  request: ProviderRequest,
  looking: Looking,
  ageing: Ageing,
): Promise<JudgedVersions> {
  const { versions, refused, byMinimumAge } = ageing;
  // The same list keeps its rendered document.
  if (byMinimumAge.keys().every((age) => age === 0)) return ageing;
  const young = new Map<Version, LeftOut>();
  for (const [minimumAge, group] of byMinimumAge) {
    if (minimumAge === 0) continue;
    // A content that an operator approved needs no age, and tells nothing of the versions below it.
    const { decisions } = request.entry.trust;
    const { type } = request.provider;
    const isApproved = (version: Version) =>
      listApproved(decisions, { type, version }).length > 0;
    const isOld = async (version: Version) => {
      const youth = await findYouth(request, version, looking);
      if (youth !== undefined) young.set(version, youth);
      return youth === undefined;
    };
    for (const version of group.filter(isApproved)) await isOld(version);
    const others = group.filter((version) => !isApproved(version));
    noteAppeared(request.origin.clock, looking.list, others, minimumAge, young);
    const rest = others.filter((version) => !young.has(version));
    await keepOldEnough(rest, isOld);
  }
  const left = versions.flatMap((version) => young.get(version) ?? []);
  const isReporting = request.rules.report !== undefined;
  const isKept = (version: Version) => {
    const kind = young.get(version)?.kind;
    return kind === undefined || (kind === "young" && isReporting);
  };
  const kept = versions.filter(isKept);
  return { versions: kept, refused: [...refused, ...left] };
}

/**
 * Notes versions that the mirror itself saw appear too lately; they need no
 * look-up.
 */
function noteAppeared(
  clock: Clock,
  list: VersionList,
  versions: readonly Version[],
  minimumAge: number,
  young: Map<Version, LeftOut>,
): void {
  const now = clock.now().getTime();
  for (const version of versions) {
    const appeared = list.versions.get(version)?.appeared?.getTime();
    if (appeared === undefined || appeared + minimumAge <= now) continue;
    const availableAt = new Date(appeared + minimumAge);
    young.set(version, leaveOutYoung(version, { availableAt }));
  }
}

/** Undefined for a version that is old enough and acceptable. */
async function findYouth(
  request: ProviderRequest,
  version: Version,
  { looks }: Looking,
): Promise<LeftOut | undefined> {
  const one = requestVersion(request, version);
  if (one === undefined) return leaveOutRefused(version, undefined);
  try {
    const found = await looks.look(one, "age");
    if (found === undefined) return leaveOutRefused(version, undefined);
    const { age } = found;
    return age.old ? undefined : leaveOutYoung(version, age);
  } catch (error) {
    if (!(error instanceof ProvenderError)) throw error;
    if (isFailure(error, "too-young")) return leaveOutYoung(version, error);
    if (saysNothing(error)) looks.failure = error;
    return leaveOutRefused(version, error);
  }
}

/** Groups versions by the minimum age that the rules ask of them, in milliseconds. */
export function groupByAge(
  requests: readonly ReleaseRequest[],
): ReadonlyMap<number, readonly Version[]> {
  const groups = new Map<number, Version[]>();
  for (const { address, decision } of requests) {
    const group = groups.get(decision.minimumAge);
    if (group === undefined) groups.set(decision.minimumAge, [address.version]);
    else group.push(address.version);
  }
  return groups;
}

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

/**
 * Reason for looking at a release. `new`: it appeared after first contact, so
 * its key is checked before it is listed. `unsure`: it was listed then, perhaps
 * under an unacceptable key. `refused` and `phantom`: it was before. `age`: the
 * walk bounds itself.
 */
export type Reason = "new" | "unsure" | "refused" | "phantom" | "age";

/** Look-ups of one listing, within its bounds. */
export class LookUps {
  readonly #standings: Standings;
  readonly #deadline: number;
  readonly #left = {
    ...{ new: 32, unsure: 16, age: Infinity },
    ...{ refused: 0, phantom: 0 },
  };
  /** Limits all look-ups to `deadline`, of `performance.now()`. */
  failure: ProvenderError | undefined;

  /** No look-up is waited for longer than until `deadline`, of `performance.now()`. */
  constructor(standings: Standings, deadline: number) {
    this.#standings = standings;
    this.#deadline = deadline;
  }

  /** A known release costs nothing; undefined when nothing is known and nothing may be asked any longer. */
  async look(
    request: ReleaseRequest,
    reason: Reason,
  ): Promise<SettledRelease | undefined> {
    try {
      return await this.#standings.look(request);
    } catch (error) {
      if (!isFailure(error, "not-stored")) throw error;
    }
    if (this.#left[reason]-- <= 0) return undefined;
    return this.#findInTime(request);
  }

  /** Undefined when the time is over first; the look-up goes on for the next listing. */
  async #findInTime(
    request: ReleaseRequest,
  ): Promise<SettledRelease | undefined> {
    const milliseconds = this.#deadline - performance.now();
    if (milliseconds <= 0) return undefined;
    const found = this.#standings.lookUp(request);
    return (await inTime(found, milliseconds, () => undefined))?.value;
  }
}
