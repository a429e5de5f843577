import type { Release, ReleaseArchive } from "./release.ts";
import type { Signer } from "./signing.ts";

/**
 * Listing of a release in a registry, which the release itself does not decide.
 */
export interface Listing {
  /** The keys that the registry lists, `[signer]` by default; `[]`: none. */
  readonly signingKeys?: readonly Signer[];
  /** `missing`: its URL answers 404. `unlisted`: it has no URL. */
  readonly signature?: "published" | "missing" | "unlisted";
  /** Adds registry.opentofu.org's `packages`: hashes and sizes of all platforms. */
  readonly packages?: boolean;
  /** `false`: the list of versions has no `platforms`. */
  readonly listPlatforms?: boolean;
  /** Whether the URLs in package documents are absolute (the default). */
  readonly urls?: "absolute" | "relative";
}

/** A release as one registry lists it. */
export interface Publication {
  readonly release: Release;
  readonly listing: Listing;
  /** URL of the server that has the files, ending in a slash. */
  readonly filesUrl: string;
}

/** `GET :namespace/:type/versions` of the provider registry protocol. */
export function versionsDocument(
  id: string,
  publications: readonly Publication[],
): unknown {
  const versions = publications.map(({ release, listing }) => {
    const { version, protocols, archives } = release;
    const platforms = archives.map(({ os, arch }) => ({ os, arch }));
    return listing.listPlatforms === false
      ? { version, protocols }
      : { version, protocols, platforms };
  });
  return { id, versions, warnings: null };
}

/** `GET :namespace/:type/:version/download/:os/:arch` of the same. */
export function packageDocument(
  publication: Publication,
  archive: ReleaseArchive,
): unknown {
  const { release, listing } = publication;
  const sums = fileUrl(publication, checksumsName(release));
  const keys = listing.signingKeys ?? [release.signer];
  return {
    protocols: release.protocols,
    os: archive.os,
    arch: archive.arch,
    filename: archive.filename,
    download_url: fileUrl(publication, archive.filename),
    shasums_url: sums,
    ...(listing.signature === "unlisted"
      ? {}
      : { shasums_signature_url: `${sums}.sig` }),
    shasum: archive.sha256,
    signing_keys: { gpg_public_keys: keys.map(keyDocument) },
    ...(listing.packages === true ? { packages: packagesOf(release) } : {}),
  };
}

/** Where the files of a release are, without a leading slash. */
export function filesPath({ namespace, type, version }: Release): string {
  return `archives/${namespace}/${type}/${version}/`;
}

export function checksumsName({ type, version }: Release): string {
  return `terraform-provider-${type}_${version}_SHA256SUMS`;
}

/** Package documents are seven folders deep. */
function fileUrl(publication: Publication, name: string): string {
  const { release, listing, filesUrl } = publication;
  const path = `${filesPath(release)}${name}`;
  if (listing.urls === "relative") return `${"../".repeat(7)}${path}`;
  return `${filesUrl}${path}`;
}

function keyDocument(signer: Signer): unknown {
  return {
    key_id: signer.keyId,
    ascii_armor: signer.armoredPublicKey,
    trust_signature: "",
    source: signer.name,
    source_url: null,
  };
}

function packagesOf(release: Release): unknown {
  return Object.fromEntries(
    release.archives.map(({ platform, sha256, h1, bytes }) => [
      platform,
      { hashes: [`zh:${sha256}`, h1], package_size: bytes.length },
    ]),
  );
}
