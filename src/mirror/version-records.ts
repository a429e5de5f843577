import { z } from "zod";
import { formatPlatform, parsePlatform } from "../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../address/provider-address.ts";
import { parseVersion } from "../address/version.ts";
import type { OriginVersions } from "../origin/registry-answers.ts";
import type { RecordKey } from "../store/layout.ts";
import type { RecordStore } from "../store/record-store.ts";
import type { Kept, MetadataRecords } from "./metadata-cache.ts";

const shape = z.object({
  confirmedAt: z.iso.datetime(),
  warnings: z.array(z.string()),
  versions: z.array(
    z.object({
      version: z.string().transform(parseVersion),
      protocols: z.array(z.string()),
      platforms: z.array(z.string().transform(parsePlatform)).nullable(),
    }),
  ),
});

/** The lists of versions on disk, one record a provider. */
export class VersionRecords implements MetadataRecords<
  ProviderAddress,
  OriginVersions
> {
  readonly #records: RecordStore;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  format(provider: ProviderAddress): string {
    return formatProviderAddress(provider);
  }

  async read(
    provider: ProviderAddress,
  ): Promise<Kept<OriginVersions> | undefined> {
    const body = await this.#records.read(recordKey(provider));
    if (body === undefined) return undefined;
    const { confirmedAt, warnings, versions } = shape.parse(body);
    return {
      confirmedAt: new Date(confirmedAt),
      value: {
        warnings,
        versions: versions.map((entry) => ({
          ...entry,
          platforms: entry.platforms ?? undefined,
        })),
      },
    };
  }

  async write(
    provider: ProviderAddress,
    { value, confirmedAt }: Kept<OriginVersions>,
  ): Promise<number> {
    return this.#records.write(recordKey(provider), {
      confirmedAt: confirmedAt.toISOString(),
      warnings: value.warnings,
      versions: value.versions.map(({ version, protocols, platforms }) => ({
        version,
        protocols,
        platforms: platforms?.map(formatPlatform) ?? null,
      })),
    });
  }
}

function recordKey(provider: ProviderAddress): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["providers", hostname, namespace, type, "versions"];
}
