import {
  formatArchiveName,
  formatChecksumsName,
} from "../address/archive-name.ts";
import { formatPlatform, type Platform } from "../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../address/provider-address.ts";
import type { Version } from "../address/version.ts";
import type {
  PublishedKey,
  PublishedPackage,
  SizedPackage,
} from "../mirror/published-package.ts";
import type { ReleaseAddress } from "../mirror/release.ts";
import type { VersionList } from "../mirror/version-list.ts";

/** `versions` ("List Available Versions"), as the origin gave them; `list` is what it said of them. */
export function renderVersions(
  versions: readonly Version[],
  { namespace, type }: ProviderAddress,
  list: VersionList | undefined,
): object {
  return {
    id: `${namespace}/${type}`,
    versions: versions.map((version) => {
      const { protocols = [], platforms } = list?.versions.get(version) ?? {};
      return { version, protocols, platforms };
    }),
    warnings: list?.warnings ?? [],
  };
}

/** `VERSION/download/OS/ARCH` ("Find a Provider Package"), with `packages` as registry.opentofu.org has it. */
export function renderPackage(
  address: ReleaseAddress,
  { found, protocols, keys, packages }: PublishedPackage,
): object {
  const { platform, filename, sha256 } = found;
  const urls = locateFiles(address, platform);
  return {
    protocols,
    os: platform.os,
    arch: platform.arch,
    filename,
    download_url: urls.archive,
    shasums_url: urls.checksums,
    shasums_signature_url: urls.signature,
    shasum: sha256,
    signing_keys: { gpg_public_keys: keys.map(renderKey) },
    ...(packages.length > 0 && { packages: renderPackages(packages) }),
  };
}

/**
 * Where a client that read `VERSION/download/OS/ARCH` finds the files of the
 * release. Clients resolve them against the URL that they asked, so that a proxy may
 * serve the mirror under any host and path. They send no token there.
 */
function locateFiles(
  { provider, version }: ReleaseAddress,
  platform: Platform,
): {
  readonly archive: string;
  readonly checksums: string;
  readonly signature: string;
} {
  const root = "../".repeat(8);
  const archive = formatArchiveName(provider, version, platform);
  const checksums = `../../${formatChecksumsName(provider, version)}`;
  return {
    archive: `${root}providers/${formatProviderAddress(provider)}/${archive}`,
    checksums,
    signature: `${checksums}.sig`,
  };
}

function renderKey(key: PublishedKey): object {
  return {
    key_id: key.id,
    ascii_armor: key.armor,
    trust_signature: key.trustSignature ?? "",
    source: key.source ?? "",
    source_url: key.sourceUrl ?? null,
  };
}

function renderPackages(packages: readonly SizedPackage[]): object {
  return Object.fromEntries(
    packages.map(({ platform, hashes, size }) => [
      formatPlatform(platform),
      { hashes, package_size: size },
    ]),
  );
}
