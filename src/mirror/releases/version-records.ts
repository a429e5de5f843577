import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { formatPlatform, parsePlatform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-cache.ts";
import { joinLists, type VersionList } from "./version-list.ts";

const date = z.iso.datetime().transform((text) => new Date(text));

const shape = z.object({
  confirmedAt: date,
  firstContact: date,
  warnings: z.array(z.string()),
  versions: z.array(
    z.object({
      version: z.string().transform(parseVersion),
      protocols: z.array(z.string()),
      platforms: z.array(z.string().transform(parsePlatform)).nullable(),
      appeared: date.nullable(),
      listed: z.boolean(),
    }),
  ),
});

/** How the lists of one kind of thing are named, in words and on disk. */
export interface VersionNaming<A> {
  readonly format: (address: A) => string;
  readonly key: (address: A) => RecordKey;
}

export const providerVersionNaming: VersionNaming<ProviderAddress> = {
  format: formatProviderAddress,
  key: ({ hostname, namespace, type }) => [
    "providers",
    hostname,
    namespace,
    type,
    "versions",
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

  weigh({ versions }: VersionList): number {
    let sum = 256;
    for (const { platforms = [] } of versions.values())
      sum += 400 + 90 * platforms.length;
    return sum;
  }

  async read(address: A): Promise<Kept<VersionList> | undefined> {
    return this.#records.read(this.#naming.key(address), readBody);
  }

  async stamp(address: A): Promise<string | undefined> {
    return this.#records.stamp(this.#naming.key(address));
  }

  /** Joined to what other processes wrote meanwhile, which is returned. */
  async write(
    address: A,
    kept: Kept<VersionList>,
    known: VersionList | undefined,
  ): Promise<Kept<VersionList>> {
    let joined = kept;
    const key = this.#naming.key(address);
    await this.#records.change(key, readBody, (before) => {
      const continues = isDeepStrictEqual(before?.value, known);
      joined = before === undefined || continues ? kept : join(kept, before);
      return writeBody(joined);
    });
    return joined;
  }
}

function join(
  ours: Kept<VersionList>,
  before: Kept<VersionList>,
): Kept<VersionList> {
  const isNewer = ours.confirmedAt >= before.confirmedAt;
  const [newer, older] = isNewer ? [ours, before] : [before, ours];
  return { ...newer, value: joinLists(newer.value, older.value) };
}

function readBody(body: unknown): Kept<VersionList> {
  const { confirmedAt, versions, ...value } = shape.parse(body);
  const listed = versions.map((entry) => ({
    ...entry,
    platforms: entry.platforms ?? undefined,
    appeared: entry.appeared ?? undefined,
  }));
  return {
    confirmedAt,
    value: {
      ...value,
      versions: new Map(listed.map((entry) => [entry.version, entry])),
    },
  };
}

function writeBody({ value, confirmedAt }: Kept<VersionList>) {
  return {
    confirmedAt: confirmedAt.toISOString(),
    firstContact: value.firstContact.toISOString(),
    warnings: value.warnings,
    versions: [...value.versions.values()].map((entry) => ({
      version: entry.version,
      protocols: entry.protocols,
      platforms: entry.platforms?.map(formatPlatform) ?? null,
      appeared: entry.appeared?.toISOString() ?? null,
      listed: entry.listed,
    })),
  };
}
