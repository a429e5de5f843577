import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Authority } from "./authority.ts";
import { delayed, slow, type Fault } from "./faults.ts";
import { startListener, type Listener } from "./listener.ts";
import {
  makeRelease,
  type Release,
  type ReleaseArchive,
  type ReleaseOptions,
} from "./release.ts";
import {
  fileReply,
  jsonReply,
  sendReply,
  type Reply,
  type ServedFile,
} from "./reply.ts";
import { RequestLog, type RequestKind } from "./request-log.ts";
import type { Signer } from "./signing.ts";

/** Answers what is below `/git/`. */
export type GitBackend = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>;

export interface RegistryOptions {
  readonly authority: Authority;
  /** Another name in the certificate, beside localhost and 127.0.0.1. */
  readonly hostname?: string;
  /** Before the headers of every answer. */
  readonly latencyMs?: number;
  /** Bandwidth of every connection. */
  readonly bytesPerSecond?: number;
  readonly git?: GitBackend | undefined;
}

/** Listing of a release in a registry, which the release itself does not decide. */
interface Listing {
  /** The keys that the registry lists, `[signer]` by default; `[]`: none. */
  readonly signingKeys?: readonly Signer[];
  /** `missing`: its URL answers 404. `unlisted`: it has no URL. */
  readonly signature?: "published" | "missing" | "unlisted";
  /** Whether the URLs in package documents are absolute (the default). */
  readonly urls?: "absolute" | "relative";
}

/** A release to be made and how it is listed. */
export type PublishOptions = ReleaseOptions & Listing;

/** A release as one registry lists it. */
interface Publication {
  readonly release: Release;
  readonly listing: Listing;
  /** URL of the server that has the files, ending in a slash. */
  readonly filesUrl: string;
}

export async function startRegistry(
  options: RegistryOptions,
): Promise<Registry> {
  const { authority, hostname = "localhost" } = options;
  const names = new Set(["127.0.0.1", "localhost", hostname]);
  const listener = await startListener(
    await authority.issue([...names]),
    (...asked) => void registry.answer(...asked),
  );
  const registry = new Registry(options, listener);
  return registry;
}

/** An origin registry over HTTPS: discovery, `providers.v1`, and the files it names. */
export class Registry {
  readonly requests = new RequestLog();
  /** Services of the discovery document; may be changed. */
  services: Record<string, unknown> = { "providers.v1": "/v1/providers/" };
  /** Whether files may be asked for in ranges, and have a strong ETag. */
  ranges = true;
  etags = true;
  latencyMs: number | undefined;
  readonly #options: RegistryOptions;
  readonly #script = new Map<RequestKind, Fault | Fault[]>();
  readonly #publications = new Map<string, Publication>();
  readonly #files = new Map<string, ServedFile>();
  readonly #replies = new Map<string, Reply>();
  readonly #listener: Listener;

  constructor(options: RegistryOptions, listener: Listener) {
    this.latencyMs = options.latencyMs;
    this.#options = options;
    this.#listener = listener;
  }

  get port(): number {
    return this.#listener.port;
  }

  /** `https://HOST:PORT/`. */
  get url(): string {
    return `https://127.0.0.1:${this.port}/`;
  }

  /** The base of `providers.v1`, for a `host` block. */
  get providersUrl(): string {
    return `${this.url}v1/providers/`;
  }

  /** TCP connections accepted since the start. */
  get connections(): number {
    return this.#listener.connections;
  }

  /**
   * Makes and lists a release, instead of one of the same version. `files` is
   * the server that has its files, this one by default.
   */
  async publish(options: PublishOptions, files?: Registry): Promise<Release> {
    const release = await makeRelease(options);
    this.offer(release, options, files);
    return release;
  }

  /** Lists a release that was made before, such as one that tests share. */
  offer(release: Release, listing: Listing = {}, files: Registry = this): void {
    const publication = { release, listing, filesUrl: files.url };
    this.#publications.set(keyOf(release), publication);
    const folder = `/${filesPath(release)}`;
    const sums = `${folder}${checksumsName(release)}`;
    files.serve(sums, release.checksums, "text/plain");
    if ((listing.signature ?? "published") === "published")
      files.serve(`${sums}.sig`, release.signature, "application/octet-stream");
    for (const { filename, bytes, sha256 } of release.archives) {
      const file = { bytes, contentType: "application/zip", sha256 };
      files.#files.set(`${folder}${filename}`, file);
    }
  }

  /** The same version again with other archive bytes, validly signed. */
  republish(
    release: Release,
    changes: Partial<PublishOptions> = {},
  ): Promise<Release> {
    return this.publish({
      ...this.#publications.get(keyOf(release))?.listing,
      ...release.options,
      seed: `after ${release.checksums}`,
      ...changes,
    });
  }

  /** Everything of the release is not found from now on. */
  withdraw(release: Release): void {
    this.#publications.delete(keyOf(release));
    for (const path of this.#files.keys())
      if (path.startsWith(`/${filesPath(release)}`)) this.#files.delete(path);
  }

  /** Answers a path so, for any query. */
  reply(path: string, reply: Reply): void {
    this.#replies.set(path, reply);
  }

  /** Serves any other document. */
  serve(
    path: string,
    body: Uint8Array | string,
    contentType = "application/json",
  ): void {
    const bytes = Buffer.from(body);
    const sha256 = hash("sha256", bytes);
    this.#files.set(path, { bytes, contentType, sha256 });
  }

  /** One fault for all answers of a kind until replaced, or a list for the next ones. */
  script(kind: RequestKind, faults: Fault | readonly Fault[]): void {
    this.#script.set(kind, typeof faults === "function" ? faults : [...faults]);
  }

  /** No faults from now on. */
  heal(): void {
    this.#script.clear();
  }

  stop(): Promise<void> {
    return this.#listener.stop();
  }

  restart(): Promise<void> {
    return this.#listener.restart();
  }

  async answer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { url: path = "/", headers } = request;
    const [name = ""] = path.split("?");
    const kind = kindOf(name);
    const { logged, end } = this.requests.open({ kind, path, headers });
    response.once("close", () =>
      end(response.writableFinished ? "complete" : "cut"),
    );
    const { bytesPerSecond, git } = this.#options;
    if (git && name.startsWith("/git/"))
      return git(request, response).catch(() => void response.destroy());
    const file = this.#files.get(name);
    const document = this.#document(kind, name);
    let reply =
      this.#replies.get(name) ?? jsonReply(404, { errors: ["Not Found"] });
    if (document !== undefined) reply = jsonReply(200, document);
    if (file !== undefined) reply = fileReply(file, headers, this);
    const script = this.#script.get(kind);
    for (const fault of [
      bytesPerSecond && slow(bytesPerSecond),
      this.latencyMs && delayed(this.latencyMs),
      Array.isArray(script) ? script.shift() : script,
    ])
      if (fault) reply = fault(reply, logged);
    await sendReply(reply, response);
  }

  /** A document of the protocol; undefined where there is none. */
  #document(kind: RequestKind, path: string): unknown {
    if (kind === "discovery") return this.services;
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
    const versions = [...this.#publications.values()]
      .filter(({ release }) => `${release.namespace}/${release.type}` === id)
      .map(({ release: { version, protocols, archives } }) => {
        const platforms = archives.map(({ os, arch }) => ({ os, arch }));
        return { version, protocols, platforms };
      });
    return versions.length > 0 ? { id, versions, warnings: null } : undefined;
  }
}

function kindOf(path: string): RequestKind {
  if (path === "/.well-known/terraform.json") return "discovery";
  if (/^\/v1\/providers\/[^/]+\/[^/]+\/versions$/.test(path)) return "versions";
  if (/^\/v1\/providers\/.*\/download\//.test(path)) return "package";
  if (path.endsWith("_SHA256SUMS")) return "checksums";
  if (path.endsWith("_SHA256SUMS.sig")) return "signature";
  if (/^\/archives\/.*\.zip$/.test(path)) return "archive";
  return "other";
}

function keyOf({ namespace, type, version }: Release): string {
  return `${namespace}/${type}/${version}`;
}

/** Where the files of a release are, without a leading slash. */
function filesPath(release: Release): string {
  return `archives/${keyOf(release)}/`;
}

function checksumsName({ type, version }: Release): string {
  return `terraform-provider-${type}_${version}_SHA256SUMS`;
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
  };
}
