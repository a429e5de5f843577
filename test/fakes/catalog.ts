import { createHash } from "node:crypto";
import type { ServedFile } from "./file-reply.ts";
import {
  checksumsName,
  filesPath,
  packageDocument,
  versionsDocument,
  type Publication,
} from "./registry-documents.ts";
import type { Release } from "./release.ts";

/**
 * Content of a registry: releases, whose documents are rendered on request, and
 * files.
 */
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
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    this.#files.set(path, { bytes, contentType, etag: `"${sha256}"` });
  }

  /** SHA256SUMS, its signature and the archives. */
  addFiles({ release, listing }: Publication): void {
    const folder = `/${filesPath(release)}`;
    const sums = `${folder}${checksumsName(release)}`;
    this.addFile(sums, Buffer.from(release.checksums), "text/plain");
    if ((listing.signature ?? "published") === "published")
      this.addFile(
        `${sums}.sig`,
        release.signature,
        "application/octet-stream",
      );
    for (const { filename, bytes, sha256 } of release.archives)
      this.#files.set(`${folder}${filename}`, {
        bytes,
        contentType: "application/zip",
        etag: `"${sha256}"`,
      });
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
    return publication === undefined || archive === undefined
      ? undefined
      : packageDocument(publication, archive);
  }

  #versions(id: string): unknown {
    const listed = [...this.#publications.values()].filter(
      ({ release }) => `${release.namespace}/${release.type}` === id,
    );
    return listed.length === 0 ? undefined : versionsDocument(id, listed);
  }
}

function keyOf({ namespace, type, version }: Release): string {
  return `${namespace}/${type}/${version}`;
}
