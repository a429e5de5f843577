import { formatArchiveHash } from "../../address/hash.ts";
import { formatPlatform } from "../../address/platform.ts";
import { failure } from "../../errors/index.ts";
import {
  ensureArchive,
  type ArchiveEnsurer,
} from "../../mirror/providers/ensured-archive.ts";
import {
  checksumsSubject,
  formatRelease,
} from "../../mirror/releases/release.ts";
import { parseChecksumsDocument } from "../../verification/checksums-document.ts";
import type { LockSource } from "./lock.ts";

/**
 * The mirror's own store. An h1 is always one that was computed from a verified
 * archive, which is fetched when it is not there.
 */
export function lockFromStore(
  mirror: ArchiveEnsurer,
  signal: AbortSignal,
): LockSource {
  const { providers } = mirror;
  return {
    listVersions: async (provider) =>
      (await providers.listVersions(provider)).value.versions,
    findRelease: async (address) => {
      const { release } = await providers.recallRelease(address);
      const { proof, packages } = release;
      // Clients lock each line of SHA256SUMS, under any name.
      const subject = { ...checksumsSubject(address), isOwn: () => true };
      const lines = parseChecksumsDocument(subject, proof.document);
      return {
        archiveHashes: [...lines.values()].map(formatArchiveHash),
        platforms: [...packages.values()].map(({ platform }) => platform),
        findPackageHash: async (platform) => {
          const wanted = await providers.recallPackage(address, platform);
          const ensured = await ensureArchive(mirror, wanted, { signal });
          const hash = await ensured.done;
          if (hash !== undefined) return hash;
          const name = `${formatRelease(address)} for ${formatPlatform(platform)}`;
          const why = await mirror.hashes.whyNone(ensured.sha256);
          throw failure("archive-unhashable", name, why ?? "hashing it failed");
        },
      };
    },
  };
}
