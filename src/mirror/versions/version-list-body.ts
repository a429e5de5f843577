import { z } from "zod";
import {
  formatPlatform,
  parsePlatform,
  type Platform,
} from "../../address/platform.ts";
import { parseVersion } from "../../address/version.ts";
import type { Kept } from "../cache/metadata-records.ts";
import type { VersionList } from "./version-list.ts";

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

/** The record of a list; throws for what has not its form. */
export function readVersionListBody(body: unknown): Kept<VersionList> {
  const { confirmedAt, versions, platformLists, ...value } = shape.parse(body);
  const entries = versions.map((entry) => ({
    ...entry,
    platforms:
      entry.platforms === null ? undefined : platformLists[entry.platforms],
    appeared: entry.appeared ?? undefined,
  }));
  const byVersion = new Map(entries.map((entry) => [entry.version, entry]));
  return { confirmedAt, value: { ...value, versions: byVersion } };
}

/**
 * Writes equal lists of platforms once. Written with each of some thousand
 * versions, they would block the event loop.
 */
export function writeVersionListBody({
  value,
  confirmedAt,
}: Kept<VersionList>) {
  const lists = new PlatformLists();
  const versions = [...value.versions.values()].map((entry) => ({
    version: entry.version,
    protocols: entry.protocols,
    platforms:
      entry.platforms === undefined ? null : lists.add(entry.platforms),
    appeared: entry.appeared?.toISOString() ?? null,
    ...(entry.published && { published: entry.published.toISOString() }),
    listed: entry.listed,
  }));
  return {
    confirmedAt: confirmedAt.toISOString(),
    firstContact: value.firstContact.toISOString(),
    warnings: value.warnings,
    platformLists: lists.listAll(),
    versions,
  };
}

class PlatformLists {
  readonly #places = new Map<string, number>();
  /** Versions share their lists, so that each is looked at once. */
  readonly #known = new Map<readonly Platform[], number>();

  add(list: readonly Platform[]): number {
    const known = this.#known.get(list);
    if (known !== undefined) return known;
    const names = list.map(formatPlatform).join();
    const place = this.#places.get(names) ?? this.#places.size;
    this.#places.set(names, place);
    this.#known.set(list, place);
    return place;
  }

  listAll(): readonly (readonly string[])[] {
    return [...this.#places.keys()].map((names) =>
      names === "" ? [] : names.split(","),
    );
  }
}
