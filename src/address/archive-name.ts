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

/** OS and ARCH in other writings; other words there would be a part of another version. */
const otherPlatform =
  "[-_.](darwin|macos|osx|linux|windows|freebsd|openbsd|netbsd|dragonfly|solaris|illumos|android|aix)" +
  "[-_.](amd64|x86[-_]64|x64|arm64|aarch64|arm(?:hf|v[5-7])?|386|i[36]86|x86|ppc64le|ppc64|s390x|riscv64|loong64|mips64le|mips64|mipsle|mips)";
/** With the level of the architecture and a word behind it. */
const behindVersion = new RegExp(
  `^${otherPlatform}(?:[-_]?v[1-4])?(?:[-_][a-z]+)?$`,
);
const beforeVersion = new RegExp(`^${otherPlatform}[-_.]v?`);
const otherPrefix = /^(?:(?:terraform|opentofu|tofu)[-_.])?(?:provider[-_.])?/;

/** Go's words for what these names have in others. */
const goNames: Readonly<Record<string, string>> = {
  ...{ macos: "darwin", osx: "darwin" },
  ...{ "x86-64": "amd64", x86_64: "amd64", x64: "amd64", aarch64: "arm64" },
  ...{ armhf: "arm", armv5: "arm", armv6: "arm", armv7: "arm" },
  ...{ i386: "386", i686: "386", x86: "386" },
};

/**
 * The platform of an archive of this provider and version; undefined for any other name. Publishers write a `v` before
 * the version, other signs between the parts, other words, or leave the prefix out; clients take what their registry
 * names. Type, version and platform have to be there, and nothing that could be a part of another version.
 */
export function findArchivePlatform(
  address: ProviderAddress,
  version: Version,
  name: string,
): Platform | undefined {
  if (!name.endsWith(".zip")) return undefined;
  const stem = name.slice(0, -".zip".length);
  const lower = stem.toLowerCase();
  const [start = ""] = otherPrefix.exec(lower) ?? [];
  if (lower.startsWith(address.type, start.length)) {
    const text = lower.slice(start.length + address.type.length);
    const own = version.toLowerCase();
    const [sign = ""] = /^[-_.]v?/.exec(text) ?? [];
    const isBehind = sign !== "" && text.startsWith(own, sign.length);
    const match = isBehind
      ? behindVersion.exec(text.slice(sign.length + own.length))
      : beforeVersion.exec(text);
    const [all = "", os = "", arch = ""] = match ?? [];
    if (match !== null && (isBehind || text.slice(all.length) === own))
      return findPlatform(`${goNames[os] ?? os}_${goNames[arch] ?? arch}`);
  }
  const prefix = formatReleasePrefix(address, version);
  return stem.startsWith(prefix)
    ? findPlatform(stem.slice(prefix.length))
    : undefined;
}
