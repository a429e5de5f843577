import { failure } from "../errors/index.ts";
import {
  findPlatform,
  formatPlatform,
  parsePlatform,
  type Platform,
} from "./platform.ts";
import type { ProviderAddress } from "./provider-address.ts";
import { isVersion, type Version } from "./version.ts";

/** `terraform-provider-TYPE_VERSION_OS_ARCH.zip`: the name under which a package is served, and nearly always signed. */
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
function formatReleasePrefix(
  address: ProviderAddress,
  version: Version,
): string {
  return `terraform-provider-${address.type}_${version}_`;
}

/** How OS and ARCH follow the version in other writings; other words there would be a part of another version. */
const otherPlatform = new RegExp(
  "^[-_.](darwin|macos|linux|windows|freebsd|openbsd|netbsd|dragonfly|solaris|illumos|android|aix)" +
    "[-_.](amd64|x86_64|arm64|aarch64|arm|386|i386|ppc64le|ppc64|s390x|riscv64|loong64|mips64le|mips64|mipsle|mips)" +
    "(?:[-_][a-z]+)?$",
);

const goNames: Readonly<Record<string, string>> = {
  macos: "darwin",
  x86_64: "amd64",
  aarch64: "arm64",
  i386: "386",
};

/**
 * Returns the platform of an archive of this provider and version; undefined for
 * any other name. Some publishers write a `v` before the version, other signs
 * between the parts, or a word behind them; every part has to be named.
 */
export function findArchivePlatform(
  address: ProviderAddress,
  version: Version,
  name: string,
): Platform | undefined {
  if (!name.endsWith(".zip")) return undefined;
  const stem = name.slice(0, -".zip".length);
  const prefix = formatReleasePrefix(address, version);
  const usual = stem.startsWith(prefix)
    ? findPlatform(stem.slice(prefix.length))
    : undefined;
  if (usual !== undefined) return usual;
  const start = `terraform-provider-${address.type}`;
  if (!stem.startsWith(start)) return undefined;
  const [sign = ""] = /^[-_.]v?/.exec(stem.slice(start.length)) ?? [];
  const rest = stem.slice(start.length + sign.length);
  if (sign === "" || !rest.startsWith(version)) return undefined;
  const match = otherPlatform.exec(rest.slice(version.length).toLowerCase());
  const [, os = "", arch = ""] = match ?? [];
  return findPlatform(`${goNames[os] ?? os}_${goNames[arch] ?? arch}`);
}

/** True for the names of a release's files: its archives, and what publishers put beside them. */
export function isReleaseFile(
  address: ProviderAddress,
  version: Version,
  name: string,
): boolean {
  return (
    name.startsWith(formatReleasePrefix(address, version)) ||
    findArchivePlatform(address, version, name) !== undefined
  );
}
