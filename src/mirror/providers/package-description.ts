import { formatArchiveHash, type PackageHash } from "../../address/hash.ts";
import type { Platform } from "../../address/platform.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { ReleaseOrigin } from "../releases/release-origin.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import type { Release, ReleasePackage } from "../releases/release.ts";

/**
 * Archive of one platform as described to clients. `hashes` has `zh:` for a
 * known digest and `h1:` for a known package hash, at least one of them.
 */
export interface MirroredPackage {
  readonly platform: Platform;
  readonly filename: string;
  readonly hashes: readonly string[];
  /** The h1 that the mirror itself computed from the archive, which it had verified. */
  readonly computed?: PackageHash | undefined;
}

export interface DescriptionParts {
  readonly hashes: PackageHashes;
  readonly alarms: Alarms;
  readonly reportedHashes: ReleaseOrigin["reportedHashes"];
}

/** The h1 is the mirror's own where the archive is stored; where it is not, what the registry reports, unless that is withheld. */
export async function describePackage(
  { hashes, alarms, reportedHashes }: DescriptionParts,
  release: Release,
  name: string,
  { platform, filename, sha256 }: ReleasePackage,
): Promise<MirroredPackage> {
  const reported = release.reported.get(name)?.packageHashes ?? [];
  const computed = await hashes.find(sha256);
  if (computed !== undefined && reported.some((hash) => hash !== computed))
    alarms.raise("package-hash-conflict", {
      archive: filename,
      reported,
      computed,
    });
  const published = reportedHashes === "publish" ? reported : [];
  const packageHashes = computed === undefined ? published : [computed];
  return {
    platform,
    filename,
    // Terraform up to 1.11 and OpenTofu up to 1.6 check the first that they can; for an h1 they unpack and hash every file.
    hashes: [formatArchiveHash(sha256), ...packageHashes],
    computed,
  };
}
