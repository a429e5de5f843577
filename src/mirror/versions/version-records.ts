import { z } from "zod";
import { parsePlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import type { RecordKey } from "../../store/records/record-tables.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-cache.ts";
import { namingPlatforms, type VersionList } from "./version-list.ts";

/** Names of one kind of version list, in text and on disk. */
interface VersionNaming<A> {
  readonly format: (address: A) => string;
  readonly record: (address: A) => RecordKey;
}

export const providerVersionNaming: VersionNaming<ProviderAddress> = {
  format: formatProviderAddress,
  record: ({ hostname, namespace, type }) => [
    ...(["version_lists", hostname, namespace, type] as const),
  ],
};

/** The lists of versions on disk, one record a provider or module. */
export class VersionRecords<A> implements MetadataRecords<A, VersionList> {
  readonly #records: RecordStore;
  readonly #naming: VersionNaming<A>;

  constructor(records: RecordStore, naming: VersionNaming<A>) {
    this.#records = records;
    this.#naming = naming;
  }

  format(address: A): string {
    return this.#naming.format(address);
  }

  key(address: A): RecordKey {
    return this.#naming.record(address);
  }

  /** Versions share their lists of platforms. */
  weigh({ versions }: VersionList): number {
    const lists = new Set(versions.values().map(({ platforms }) => platforms));
    let sum = 256 + 400 * versions.size;
    for (const list of lists) sum += 90 * (list?.length ?? 0);
    return sum;
  }

  async read(address: A): Promise<Kept<VersionList> | undefined> {
    const record = this.#naming.record(address);
    return this.#records.read(record, readVersionListBody);
  }

  async write(
    address: A,
    kept: Kept<VersionList>,
  ): Promise<Kept<VersionList> | undefined> {
    const { value } = kept;
    const record = this.#naming.record(address);
    const body = writeVersionListBody(kept);
    const write = () => this.#records.swap(record, value.revision, body);
    // The origin says it again.
    const revision = await this.#records.transact(write, "soon");
    return revision === undefined
      ? undefined
      : { ...kept, value: { ...value, revision } };
  }
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

/** The record of a list. */
function readVersionListBody(
  body: unknown,
  revision: number,
): Kept<VersionList> {
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

/**
 * Writes equal lists of platforms once. Written with each of some thousand
 * versions, they would block the event loop.
 */
function writeVersionListBody({ value, confirmedAt }: Kept<VersionList>) {
  const nameOf = namingPlatforms();
  const places = new Map<string, number>();
  const place = (platforms: readonly Platform[] | undefined) => {
    const names = nameOf(platforms);
    if (names === undefined) return null;
    const found = places.get(names) ?? places.size;
    places.set(names, found);
    return found;
  };
  const versions = [...value.versions.values()].map((entry) => ({
    version: entry.version,
    protocols: entry.protocols,
    platforms: place(entry.platforms),
    appeared: entry.appeared?.toISOString() ?? null,
    ...(entry.published && { published: entry.published.toISOString() }),
    listed: entry.listed,
  }));
  return {
    confirmedAt: confirmedAt.toISOString(),
    firstContact: value.firstContact.toISOString(),
    warnings: value.warnings,
    platformLists: [...places.keys()].map((names) =>
      names === "" ? [] : names.split(","),
    ),
    versions,
  };
}
