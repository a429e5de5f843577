import type { ProviderAddress } from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { ProvenderError } from "../../errors/index.ts";
import type { ArchiveCache } from "../cache/archive-cache.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";

/** Up to `most` providers with the versions of which something is kept, newest first, whatever the rules say of them. */
export async function listStored(
  records: Pick<ReleaseRecords, "list" | "listProviders">,
  most: number,
) {
  const providers = await records.listProviders(most);
  return Promise.all(
    providers.map(async (provider) => {
      const versions = await records.list(provider);
      return { provider, versions: newestFirst(versions) };
    }),
  );
}

/** Stored when some archive of the release is. */
export async function findStored(
  {
    catalog,
    archives,
  }: {
    readonly catalog: Pick<ProviderCatalog, "peekRelease">;
    readonly archives: Pick<ArchiveCache, "findSize">;
  },
  provider: ProviderAddress,
  version: Version,
): Promise<"stored" | "absent" | "refused"> {
  try {
    const release = await catalog.peekRelease({ provider, version });
    const sizes = await Promise.all(
      [...(release?.packages.values() ?? [])].map(({ sha256 }) =>
        archives.findSize(sha256),
      ),
    );
    return sizes.some((size) => size !== undefined) ? "stored" : "absent";
  } catch (error) {
    if (error instanceof ProvenderError) return "refused";
    throw error;
  }
}
