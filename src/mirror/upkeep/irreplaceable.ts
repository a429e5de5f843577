import type { Sha256 } from "../../address/hash.ts";
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
  for (const provider of await releases.listProviders(Infinity)) {
    const list = await catalog.peekVersions(provider);
    for (const { version, listed } of list?.versions.values() ?? []) {
      if (listed) continue;
      const digests = await releases.readFirstDigests({ provider, version });
      for (const digest of digests.values()) found.add(digest);
    }
  }
  return found;
}
