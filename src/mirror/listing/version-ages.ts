import type { Version } from "../../address/version.ts";
import { isFailure, ProvenderError } from "../../errors/index.ts";
import type { Clock } from "../cache/clock.ts";
import type { VersionList } from "../versions/version-list.ts";
import {
  leaveOutRefused,
  leaveOutYoung,
  type LeftOut,
} from "../trust/left-out.ts";
import {
  requestVersion,
  type ProviderRequest,
  type ReleaseRequest,
} from "../trust/request.ts";
import { saysNothing } from "../standings/candidate-failures.ts";
import { keepOldEnough } from "./release-lines.ts";
import type { LookUps } from "./release-look-ups.ts";

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
    noteAppeared(request.origin.clock, looking.list, group, minimumAge, young);
    const rest = group.filter((version) => !young.has(version));
    await keepOldEnough(rest, async (version) => {
      const youth = await findYouth(request, version, looking);
      if (youth !== undefined) young.set(version, youth);
      return youth === undefined;
    });
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
