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

  /** Throws not-found when the origin says so. */
  findPackage(
    address: ProviderAddress,
    version: Version,
    platform: Platform,
    signal: AbortSignal,
  ): Promise<OriginPackage>;

  /** The package of any platform; undefined `offered` means unknown. Throws not-found for a release that is not there. */
  findAnyPackage(
    address: ProviderAddress,
    version: Version,
    offered: readonly Platform[] | undefined,
    signal: AbortSignal,
  ): Promise<OriginPackage>;

  /** SHA256SUMS and its signature. Throws not-found when either is gone. */
  fetchChecksums(
    found: OriginPackage,
    signal: AbortSignal,
    address: ProviderAddress,
  ): Promise<OriginChecksums>;

  openArchive(
    found: Pick<OriginPackage, "downloadUrl">,
    signal: AbortSignal,
  ): Promise<OriginArchive>;
}
