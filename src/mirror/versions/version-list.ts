import { formatPlatform, type Platform } from "../../address/platform.ts";
import type { Version } from "../../address/version.ts";
import { failure, isFailure } from "../../errors/index.ts";
import type {
  OriginVersion,
  OriginVersions,
} from "../../origin/registries/registry-answers.ts";
import type { Clock } from "../cache/clock.ts";

/** A version and what the mirror's own history knows of it. */
interface ListedVersion extends OriginVersion {
  /**
   * Time of its first appearance in a list that was known already; undefined
   * for versions of the first list.
   */
  readonly appeared: Date | undefined;
  /** False when the origin no longer lists it. */
  readonly listed: boolean;
}

/** A provider's versions as the origin listed them over time. */
export interface VersionList {
  /** Time of the mirror's first list of this provider. */
  readonly firstContact: Date;
  readonly versions: ReadonlyMap<Version, ListedVersion>;
  readonly warnings: readonly string[];
  /** Of the record that it was made from; 0 for none. */
  readonly revision: number;
}

/** However many versions a list may have, these may be known of one provider or module. */
const mostKnown = 20_000;

/**
 * Joins what the origin lists now to what is known; nothing that was ever listed is forgotten, and the first claim
 * about its date stays. What appeared in the future did so under a clock that was wrong: its age counts from now, so
 * that it is held back no longer than any new version.
 */
export function mergeVersions(
  subject: string,
  known: VersionList | undefined,
  answer: OriginVersions,
  now: Date,
): VersionList {
  const appeared = known === undefined ? undefined : now;
  const versions = new Map<Version, ListedVersion>();
  for (const entry of answer.versions) {
    const earlier = known?.versions.get(entry.version);
    versions.set(entry.version, {
      ...entry,
      appeared: earlier === undefined ? appeared : notAfter(now, earlier),
      published: earlier?.published ?? claimedBy(now, entry),
      listed: true,
    });
  }
  for (const [version, earlier] of known?.versions ?? [])
    if (!versions.has(version))
      versions.set(version, {
        ...earlier,
        appeared: notAfter(now, earlier),
        listed: false,
      });
  const most = Math.max(mostKnown, 2 * answer.versions.length);
  if (versions.size > most)
    throw failure(
      "origin-answer",
      subject,
      `with what its registry listed earlier there are more than ${most} versions`,
    );
  return {
    firstContact: known?.firstContact ?? now,
    versions,
    warnings: answer.warnings,
    revision: known?.revision ?? 0,
  };
}

/** Takes no claim for one about the future, or about a time before there were computers to publish on. */
function claimedBy(now: Date, { published }: OriginVersion): Date | undefined {
  const time = published?.getTime() ?? NaN;
  return time > 0 && time <= now.getTime() ? published : undefined;
}

function notAfter(now: Date, { appeared }: ListedVersion): Date | undefined {
  return appeared !== undefined && appeared > now ? now : appeared;
}

/** This version alone; one that the list does not know was kept before any list was. */
export function limitVersions(
  list: VersionList | undefined,
  version: Version,
): VersionList {
  const entry = list?.versions.get(version) ?? {
    ...{ version, protocols: [], platforms: undefined },
    ...{ appeared: undefined, listed: true },
  };
  const { firstContact = new Date(0), revision = 0 } = list ?? {};
  const versions = new Map([[version, entry]]);
  return { firstContact, versions, warnings: [], revision };
}

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
  const before = [...known.versions.values()].filter(({ listed }) => listed);
  const vanished = before
    .map(({ version }) => version)
    .filter((version) => list.versions.get(version)?.listed !== true);
  if (isAlarming(vanished.length, before.length)) onVanished(vanished);
  // A folder's list is read every few seconds, and written only when it changed.
  return freshFor !== undefined && isSameList(list, known) ? known : list;
}

/** Some versions are withdrawn now and then; more than five or a tenth at once is an accident or an attack. */
export function isAlarming(vanished: number, of: number): boolean {
  return vanished > 5 || vanished * 10 > of;
}

/** Compares two lists, a hundred times as fast as a comparison of objects. */
function isSameList(a: VersionList, b: VersionList): boolean {
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
export function namingPlatforms() {
  const names = new Map<readonly Platform[], string>();
  return (platforms: readonly Platform[] | undefined): string | undefined => {
    if (platforms === undefined) return undefined;
    const name = names.get(platforms) ?? platforms.map(formatPlatform).join();
    names.set(platforms, name);
    return name;
  };
}
