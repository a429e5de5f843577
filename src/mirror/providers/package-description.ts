import { formatArchiveHash, type PackageHash } from "../../address/hash.ts";
import type { Platform } from "../../address/platform.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import type { ReleasePackage } from "../releases/release.ts";

/**
 * Archive of one platform as described to clients. `hashes` has its `zh:`, and
 * its `h1:` once the mirror has computed it.
 */
export interface MirroredPackage {
  readonly platform: Platform;
  readonly filename: string;
  readonly hashes: readonly string[];
  /** The h1 that the mirror itself computed from the archive, which it had verified. */
  readonly computed?: PackageHash | undefined;
}

export async function describePackage(
  hashes: PackageHashes,
  { platform, filename, sha256 }: ReleasePackage,
): Promise<MirroredPackage> {
  const computed = await hashes.find(sha256);
  return {
    platform,
    filename,
    // Terraform up to 1.11 and OpenTofu up to 1.6 check the first that they can; for an h1 they unpack and hash every file.
    hashes: [
      formatArchiveHash(sha256),
      ...(computed === undefined ? [] : [computed]),
    ],
    computed,
  };
}
