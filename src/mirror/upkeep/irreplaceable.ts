import type { Sha256 } from "../../address/hash.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { isFailure } from "../../errors/index.ts";
import type { MetadataCache } from "../cache/metadata-cache.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import type { VersionList } from "../versions/version-list.ts";

/** Known names of archives, on disk and in memory. */
export interface KeptReleases {
  readonly versions: MetadataCache<ProviderAddress, VersionList>;
  readonly releases: ReleaseRecords;
}

/** The archives of versions that their origin no longer lists, so that it could not give them again. */
export async function listIrreplaceable(
  kept: KeptReleases,
): Promise<ReadonlySet<Sha256>> {
  const { releases } = kept;
  const found = new Set<Sha256>();
  for (const provider of await releases.listProviders(Infinity))
    for (const version of await listUnlisted(kept, provider)) {
      const digests = await releases
        .readDigests({ provider, version })
        .catch(noneIfUnreadable);
      for (const digest of digests?.keys() ?? []) found.add(digest);
    }
  return found;
}

/** Every version where it is unknown what is listed. */
async function listUnlisted(
  { versions, releases }: KeptReleases,
  provider: ProviderAddress,
): Promise<readonly Version[]> {
  try {
    const list = await versions.peek(provider);
    return [...(list?.versions.values() ?? [])]
      .filter(({ listed }) => !listed)
      .map(({ version }) => version);
  } catch (error) {
    noneIfUnreadable(error);
    return releases.list(provider);
  }
}

function noneIfUnreadable(error: unknown): undefined {
  if (!isFailure(error, "record-unreadable")) throw error;
}
