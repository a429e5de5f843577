import type { PackageHash } from "../../address/hash.ts";
import type { Platform } from "../../address/platform.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import type { ReleaseAddress } from "../../mirror/releases/release.ts";

/** Hashes of one version of a provider for a dependency lock file. */
export interface LockableRelease {
  /** `zh:` of every file that the publisher signed, or of every archive where only those are known. */
  readonly archiveHashes: readonly string[];
  /** All that the release has. */
  readonly platforms: readonly Platform[];
  /** The h1 of one platform's archive. Throws archive-unhashable when it has none, and not-found for a platform that there is not. */
  findPackageHash(platform: Platform): Promise<PackageHash>;
}

/**
 * Source of verified hashes for `lock`: the local store, or a running mirror.
 */
export interface LockSource {
  /** Newest first. */
  listVersions(provider: ProviderAddress): Promise<readonly Version[]>;
  findRelease(address: ReleaseAddress): Promise<LockableRelease>;
}
