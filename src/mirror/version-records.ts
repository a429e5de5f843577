import { z } from "zod";
import { formatPlatform, parsePlatform } from "../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../address/provider-address.ts";
import { parseVersion } from "../address/version.ts";
import type { RecordKey } from "../store/layout.ts";
import type { RecordStore } from "../store/record-store.ts";
import type { Kept, MetadataRecords } from "./metadata-cache.ts";
import type { VersionList } from "./version-list.ts";

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

/** The lists of versions on disk, one record a provider. */
export class VersionRecords implements MetadataRecords<
  ProviderAddress,
  VersionList
> {
  readonly #records: RecordStore;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  format(provider: ProviderAddress): string {
    return formatProviderAddress(provider);
  }

  weigh({ versions }: VersionList): number {
    return 256 + 256 * versions.size;
  }

  async read(
    provider: ProviderAddress,
  ): Promise<Kept<VersionList> | undefined> {
    const body = await this.#records.read(recordKey(provider));
    const parsed = shape.safeParse(body);
    if (!parsed.success) return undefined;
    const { confirmedAt, versions, ...value } = parsed.data;
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

  async stamp(provider: ProviderAddress): Promise<string | undefined> {
    return this.#records.stamp(recordKey(provider));
  }

  async write(
    provider: ProviderAddress,
    { value, confirmedAt }: Kept<VersionList>,
  ): Promise<void> {
    await this.#records.write(recordKey(provider), {
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
    });
  }
}

function recordKey(provider: ProviderAddress): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["providers", hostname, namespace, type, "versions"];
}
