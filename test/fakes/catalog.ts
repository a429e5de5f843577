import { hash } from "node:crypto";
import type { ServedFile } from "./file-reply.ts";
import type { Release, ReleaseArchive } from "./release.ts";
import type { Signer } from "./signing.ts";

/** Listing of a release in a registry, which the release itself does not decide. */
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
interface Publication {
  readonly release: Release;
  readonly listing: Listing;
  /** URL of the server that has the files, ending in a slash. */
  readonly filesUrl: string;
}

/** Content of a registry: releases, whose documents are rendered on request, and files. */
export class Catalog {
  readonly #publications = new Map<string, Publication>();
  readonly #files = new Map<string, ServedFile>();

  list(publication: Publication): void {
    this.#publications.set(keyOf(publication.release), publication);
  }

  find(release: Release): Publication | undefined {
    return this.#publications.get(keyOf(release));
  }

  /** Neither listed nor stored from now on. */
  remove(release: Release): void {
    this.#publications.delete(keyOf(release));
    for (const path of this.#files.keys())
      if (path.startsWith(`/${filesPath(release)}`)) this.#files.delete(path);
  }

  addFile(path: string, bytes: Uint8Array, contentType: string): void {
    const etag = `"${hash("sha256", bytes)}"`;
    this.#files.set(path, { bytes, contentType, etag });
  }

  /** SHA256SUMS, its signature and the archives. */
  addFiles({ release, listing }: Publication): void {
    const folder = `/${filesPath(release)}`;
    const sums = `${folder}${checksumsName(release)}`;
    this.addFile(sums, Buffer.from(release.checksums), "text/plain");
    const binary = "application/octet-stream";
    if ((listing.signature ?? "published") === "published")
      this.addFile(`${sums}.sig`, release.signature, binary);
    for (const { filename, bytes, sha256 } of release.archives) {
      const file = {
        bytes,
        contentType: "application/zip",
        etag: `"${sha256}"`,
      };
      this.#files.set(`${folder}${filename}`, file);
    }
  }

  file(path: string): ServedFile | undefined {
    return this.#files.get(path);
  }

  /** Returns the document of `providers.v1` at a path, if there is one. */
  document(path: string): unknown {
    const [, id = "", rest = ""] =
      /^\/v1\/providers\/([^/]+\/[^/]+)\/(.+)$/.exec(path) ?? [];
    if (rest === "versions") return this.#versions(id);
    const [version = "", , os = "", arch = ""] = rest.split("/");
    const publication = this.#publications.get(`${id}/${version}`);
    const archive = publication?.release.archives.find(
      ({ platform }) => platform === `${os}_${arch}`,
    );
    return publication && archive && packageDocument(publication, archive);
  }

  /** `GET :namespace/:type/versions` of the provider registry protocol. */
  #versions(id: string): unknown {
    const listed = [...this.#publications.values()].filter(
      ({ release }) => `${release.namespace}/${release.type}` === id,
    );
    if (listed.length === 0) return undefined;
    const versions = listed.map(({ release, listing }) => {
      const { version, protocols, archives } = release;
      const platforms = archives.map(({ os, arch }) => ({ os, arch }));
      return listing.listPlatforms === false
        ? { version, protocols }
        : { version, protocols, platforms };
    });
    return { id, versions, warnings: null };
  }
}

function keyOf({ namespace, type, version }: Release): string {
  return `${namespace}/${type}/${version}`;
}

/** `GET :namespace/:type/:version/download/:os/:arch` of the same. */
function packageDocument(
  { release, listing, filesUrl }: Publication,
  { os, arch, filename, sha256 }: ReleaseArchive,
): unknown {
  // Package documents are seven folders deep.
  const base = listing.urls === "relative" ? "../".repeat(7) : filesUrl;
  const urlOf = (name: string) => `${base}${filesPath(release)}${name}`;
  const sums = urlOf(checksumsName(release));
  const keys = listing.signingKeys ?? [release.signer];
  const { protocols } = release;
  return {
    ...{ protocols, os, arch, filename, shasum: sha256 },
    download_url: urlOf(filename),
    shasums_url: sums,
    ...(listing.signature !== "unlisted" && {
      shasums_signature_url: `${sums}.sig`,
    }),
    signing_keys: {
      gpg_public_keys: keys.map(({ keyId, armoredPublicKey, name }) => ({
        ...{ key_id: keyId, ascii_armor: armoredPublicKey, source: name },
        ...{ trust_signature: "", source_url: null },
      })),
    },
    ...(listing.packages === true && {
      packages: Object.fromEntries(
        release.archives.map(({ platform, sha256, h1, bytes }) => [
          platform,
          { hashes: [`zh:${sha256}`, h1], package_size: bytes.length },
        ]),
      ),
    }),
  };
}

/** Where the files of a release are, without a leading slash. */
function filesPath({ namespace, type, version }: Release): string {
  return `archives/${namespace}/${type}/${version}/`;
}

function checksumsName({ type, version }: Release): string {
  return `terraform-provider-${type}_${version}_SHA256SUMS`;
}
