import * as z from "zod";
import {
  formatPlatform,
  parsePlatform,
  type Platform,
} from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion, type Version } from "../../address/version.ts";
import { failure, isFailure } from "../../errors/index.ts";
import type {
  OriginVersion,
  OriginVersions,
} from "../../origin/registries/registry-answers.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Clock } from "../cache/clock.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-cache.ts";

/** A version and what the mirror's own history knows of it. */
interface ListedVersion extends OriginVersion {
  /** In a list that was known already; undefined for versions of the first list. */
  readonly appeared: Date | undefined;
  /** False when the origin no longer lists it. */
  readonly listed: boolean;
}

/** A provider's versions as the origin listed them over time. */
export interface VersionList {
  readonly firstContact: Date;
  readonly versions: ReadonlyMap<Version, ListedVersion>;
  readonly warnings: readonly string[];
  /** Of the record that it was made from; 0 for none. */
  readonly revision: number;
}

/** The versions that the origin listed last. */
export function listedIn({ versions }: VersionList): readonly Version[] {
  const listed: Version[] = [];
  for (const [version, entry] of versions)
    if (entry.listed) listed.push(version);
  return listed;
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
    // A claim about the future, or about a time before there were computers to publish on, is none.
    const time = entry.published?.getTime() ?? NaN;
    const isClaim = time > 0 && time <= now.getTime();
    versions.set(entry.version, {
      ...entry,
      appeared: earlier === undefined ? appeared : notAfter(now, earlier),
      published: earlier?.published ?? (isClaim ? entry.published : undefined),
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

function notAfter(now: Date, { appeared }: ListedVersion): Date | undefined {
  return appeared !== undefined && appeared > now ? now : appeared;
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
  const before = listedIn(known);
  const vanished = before.filter(
    (version) => list.versions.get(version)?.listed !== true,
  );
  if (isAlarming(vanished.length, before.length)) onVanished(vanished);
  // A folder's list is read every few seconds, and written only when it changed.
  const isSame =
    freshFor !== undefined &&
    JSON.stringify(writeList(list)) === JSON.stringify(writeList(known));
  return isSame ? known : list;
}

/** Some versions are withdrawn now and then; more than five or a tenth at once is an accident or an attack. */
export function isAlarming(vanished: number, of: number): boolean {
  return vanished > 5 || vanished * 10 > of;
}

type VersionNaming<A> = Pick<MetadataRecords<A, VersionList>, "format" | "key">;

export const providerVersionNaming: VersionNaming<ProviderAddress> = {
  format: formatProviderAddress,
  key: ({ hostname, namespace, type }) => [
    ...(["version_lists", hostname, namespace, type] as const),
  ],
};

/** The lists of versions on disk, one record a provider or module. */
export function versionRecords<A>(
  records: RecordStore,
  naming: VersionNaming<A>,
): MetadataRecords<A, VersionList> {
  const { key } = naming;
  return {
    ...naming,
    // Versions share their lists of platforms.
    weigh: ({ versions }) => {
      const lists = new Set<readonly Platform[]>();
      for (const { platforms = [] } of versions.values()) lists.add(platforms);
      let bytes = 256 + 400 * versions.size;
      for (const platforms of lists) bytes += 90 * platforms.length;
      return bytes;
    },
    read: (address) => records.read(key(address), readRecord),
    write: async (address, { value, confirmedAt }) => {
      const body = { confirmedAt, ...writeList(value) };
      // The origin says it again.
      const revision = await records.swap(
        ...([key(address), value.revision, body, "soon"] as const),
      );
      return revision === undefined
        ? undefined
        : { confirmedAt, value: { ...value, revision } };
    },
  };
}

const date = z.iso.datetime().transform((text) => new Date(text));

const platforms = z.array(z.string().transform(parsePlatform));

const shape = z.object({
  confirmedAt: date,
  firstContact: date,
  warnings: z.array(z.string()),
  /** Those that differ; a version names one by its place. */
  platformLists: z.array(platforms),
  versions: z.array(
    z.object({
      version: z.string().transform(parseVersion),
      protocols: z.array(z.string()),
      platforms: z.int().nullable(),
      appeared: date.nullable(),
      published: date.optional(),
      listed: z.boolean(),
    }),
  ),
});

function readRecord(body: unknown, revision: number): Kept<VersionList> {
  const { confirmedAt, versions, platformLists, ...value } = shape.parse(body);
  const entries = versions.map((entry) => ({
    ...entry,
    platforms:
      entry.platforms === null ? undefined : platformLists[entry.platforms],
    appeared: entry.appeared ?? undefined,
  }));
  const byVersion = new Map(entries.map((entry) => [entry.version, entry]));
  return { confirmedAt, value: { ...value, versions: byVersion, revision } };
}

/** Writes equal lists of platforms once. Written with each of some thousand versions, they would block the event loop. */
function writeList({ firstContact, warnings, versions }: VersionList) {
  const named = new Map<readonly Platform[], string>();
  const places = new Map<string, number>();
  const platformLists: (readonly string[])[] = [];
  const entries = [];
  for (const { platforms, appeared = null, ...entry } of versions.values()) {
    let place: number | null = null;
    if (platforms !== undefined) {
      const name = named.get(platforms) ?? platforms.map(formatPlatform).join();
      named.set(platforms, name);
      place = places.get(name) ?? platformLists.length;
      if (place === platformLists.length)
        platformLists.push(platforms.map(formatPlatform));
      places.set(name, place);
    }
    entries.push({ ...entry, platforms: place, appeared });
  }
  return { firstContact, warnings, platformLists, versions: entries };
}
