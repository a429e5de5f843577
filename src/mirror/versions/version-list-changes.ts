import { formatPlatform, type Platform } from "../../address/platform.ts";
import type { Version } from "../../address/version.ts";
import { isFailure } from "../../errors/index.ts";
import type { OriginVersions } from "../../origin/registries/registry-answers.ts";
import type { Clock } from "../cache/clock.ts";
import {
  mergeVersions,
  type ListedVersion,
  type VersionList,
} from "./version-list.ts";

/**
 * Returns the version list after the origin's answer. A known subject that is
 * gone has no versions; an unknown one is absent.
 * `onVanished` hears of delisted versions when they are more than are usually
 * withdrawn.
 */
export async function refreshVersions(
  subject: string,
  known: VersionList | undefined,
  asked: Promise<OriginVersions>,
  { clock, freshFor }: { readonly clock: Clock; readonly freshFor?: unknown },
  onVanished: (versions: readonly Version[]) => void,
): Promise<VersionList> {
  const answer = await asked.catch((error: unknown) => {
    if (known === undefined || !isFailure(error, "not-found")) throw error;
    return { versions: [], warnings: [] };
  });
  const list = mergeVersions(subject, known, answer, clock.now());
  if (known === undefined) return list;
  const vanished = findVanished(known, list);
  const before = [...known.versions.values()].filter(({ listed }) => listed);
  if (isAlarming(vanished.length, before.length)) onVanished(vanished);
  // A folder's list is read every few seconds, and written only when it changed.
  return freshFor !== undefined && isSameList(list, known) ? known : list;
}

/** Lists the versions that `later` no longer has though `earlier` had them listed. */
function findVanished(
  earlier: VersionList,
  later: VersionList,
): readonly Version[] {
  return [...later.versions.values()]
    .filter(
      ({ version, listed }) =>
        !listed && earlier.versions.get(version)?.listed === true,
    )
    .map(({ version }) => version);
}

/** Some versions are withdrawn now and then; more than five or a tenth at once is an accident or an attack. */
export function isAlarming(vanished: number, of: number): boolean {
  return vanished > 5 || vanished * 10 > of;
}

/** Compares two lists, a hundred times as fast as a comparison of objects. */
export function isSameList(
  a: VersionList | undefined,
  b: VersionList | undefined,
): boolean {
  if (a === undefined || b === undefined) return a === b;
  const nameOf = namingPlatforms();
  const isSameEntry = (one: ListedVersion, other: ListedVersion | undefined) =>
    one.listed === other?.listed &&
    one.appeared?.getTime() === other.appeared?.getTime() &&
    one.published?.getTime() === other.published?.getTime() &&
    one.protocols.join() === other.protocols.join() &&
    nameOf(one.platforms) === nameOf(other.platforms);
  return (
    a.firstContact.getTime() === b.firstContact.getTime() &&
    a.warnings.join("\n") === b.warnings.join("\n") &&
    a.versions.size === b.versions.size &&
    a.versions
      .values()
      .every((one) => isSameEntry(one, b.versions.get(one.version)))
  );
}

/** Versions share their lists of platforms, so that each is put in words once. */
function namingPlatforms() {
  const names = new Map<readonly Platform[], string>();
  return (platforms: readonly Platform[] | undefined): string | undefined => {
    if (platforms === undefined) return undefined;
    const name = names.get(platforms) ?? platforms.map(formatPlatform).join();
    names.set(platforms, name);
    return name;
  };
}
