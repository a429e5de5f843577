import { formatArchiveHash } from "../../address/hash.ts";
import {
  ensureArchive,
  recallArchive,
  recallPackage,
  type ArchiveEnsurer,
} from "../../mirror/providers/ensured-archive.ts";
import type { LockSource } from "./source.ts";

/**
 * The mirror's own store. An h1 is always one that was computed from a verified
 * archive, which is fetched when it is not there: what a registry reports is
 * signed by nobody, and a lock file is believed for years.
 */
export function lockFromStore(mirror: ArchiveEnsurer): LockSource {
  const { providers } = mirror;
  return {
    listVersions: async (provider) =>
      (await providers.listVersions(provider)).value,
    findRelease: async (address) => {
      const { checksums, packages } = await providers.recallRelease(address);
      return {
        archiveHashes: [...checksums.sha256ByFilename.values()].map(
          formatArchiveHash,
        ),
        platforms: [...packages.values()].map(({ platform }) => platform),
        findPackageHash: async (platform) => {
          const found = await recallPackage(providers, address, platform);
          const kept = await recallArchive(mirror, found);
          return kept?.h1 ?? (await ensureArchive(mirror, address, found)).done;
        },
      };
    },
  };
}
