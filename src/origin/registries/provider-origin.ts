import type { Platform } from "../../address/platform.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import type { OriginArchive } from "../http/http-client.ts";
import type { OriginPackage, OriginVersions } from "./registry-answers.ts";

/** Verification material of a release, as fetched and not verified yet. */
export interface OriginChecksums {
  readonly document: Uint8Array;
  /** Undefined when the origin names no signature. */
  readonly signature: Uint8Array | undefined;
}

export interface ProviderOrigin {
  /** Throws not-found when the origin says so. */
  listVersions(
    address: ProviderAddress,
    signal: AbortSignal,
  ): Promise<OriginVersions>;

  /**
   * The package of the first of `platforms` that has one; undefined stands for any. Throws not-found when the origin has
   * none of them.
   */
  findPackage(
    address: ProviderAddress,
    version: Version,
    platforms: readonly Platform[] | undefined,
    signal: AbortSignal,
  ): Promise<OriginPackage>;

  /** SHA256SUMS and its signature. Throws not-found when either is gone. */
  fetchChecksums(
    found: OriginPackage,
    signal: AbortSignal,
  ): Promise<OriginChecksums>;

  /** At the place that a package names. */
  openArchive(url: URL, signal: AbortSignal): Promise<OriginArchive>;
}
