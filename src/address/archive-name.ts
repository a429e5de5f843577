import { failure } from "../errors/index.ts";
import {
  findPlatform,
  formatPlatform,
  parsePlatform,
  type Platform,
} from "./platform.ts";
import type { ProviderAddress } from "./provider-address.ts";
import { isVersion, type Version } from "./version.ts";

/** `terraform-provider-TYPE_VERSION_OS_ARCH.zip`: the one name under which a package is signed. */
export function formatArchiveName(
  address: ProviderAddress,
  version: Version,
  platform: Platform,
): string {
  return `${formatReleasePrefix(address, version)}${formatPlatform(platform)}.zip`;
}

/**
 * Parses an archive name of `address`; throws malformed-address for any other
 * name.
 */
export function parseArchiveName(
  address: ProviderAddress,
  name: string,
): { readonly version: Version; readonly platform: Platform } {
  const prefix = `terraform-provider-${address.type}_`;
  const match = /^([^_]+)_([^_]+_[^_]+)\.zip$/.exec(
    name.startsWith(prefix) ? name.slice(prefix.length) : "",
  );
  const [, version = "", platform = ""] = match ?? [];
  if (!isVersion(version))
    throw failure(
      "malformed-address",
      "archive name",
      name,
      `${prefix}VERSION_OS_ARCH.zip`,
    );
  return { version, platform: parsePlatform(platform) };
}

/** `terraform-provider-TYPE_VERSION_SHA256SUMS`, as publishers call what they sign. */
export function formatChecksumsName(
  address: ProviderAddress,
  version: Version,
): string {
  return `${formatReleasePrefix(address, version)}SHA256SUMS`;
}

/** `terraform-provider-TYPE_VERSION_`, with which the name of each file of a release begins. */
export function formatReleasePrefix(
  address: ProviderAddress,
  version: Version,
): string {
  return `terraform-provider-${address.type}_${version}_`;
}

/** Returns the platform of an archive of this provider and version; undefined for any other name. */
export function findArchivePlatform(
  address: ProviderAddress,
  version: Version,
  name: string,
): Platform | undefined {
  const prefix = formatReleasePrefix(address, version);
  const end = ".zip";
  if (!name.startsWith(prefix) || !name.endsWith(end)) return undefined;
  return findPlatform(name.slice(prefix.length, -end.length));
}
