import type { Sha256 } from "../../address/hash.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { RecordUnreadable } from "../../errors/index.ts";
import type { ProviderCatalog } from "../providers/provider-catalog.ts";
import type { ReleaseRecords } from "../releases/records.ts";

/** What is known of the archives' names, on disk and in memory. */
export interface KeptReleases {
  readonly catalog: ProviderCatalog;
  readonly releases: ReleaseRecords;
}

/** The archives of versions that their origin lists no more, so that it could not give them again. */
export async function listIrreplaceable({
  catalog,
  releases,
}: KeptReleases): Promise<ReadonlySet<Sha256>> {
  const found = new Set<Sha256>();
  for (const provider of await releases.listProviders(Infinity))
    for (const version of await listUnlisted({ catalog, releases }, provider)) {
      const digests = await releases
        .readFirstDigests({ provider, version })
        .catch(noneIfUnreadable);
      for (const digest of digests?.values() ?? []) found.add(digest);
    }
  return found;
}

/** Every version where nobody can tell what is listed. */
async function listUnlisted(
  { catalog, releases }: KeptReleases,
  provider: ProviderAddress,
): Promise<readonly Version[]> {
  try {
    const list = await catalog.peekVersions(provider);
    const versions = [...(list?.versions.values() ?? [])];
    return versions
      .filter(({ listed }) => !listed)
      .map(({ version }) => version);
  } catch (error) {
    noneIfUnreadable(error);
    return releases.list(provider);
  }
}

function noneIfUnreadable(error: unknown): undefined {
  if (!(error instanceof RecordUnreadable)) throw error;
}
