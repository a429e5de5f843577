import type { IncomingMessage, ServerResponse } from "node:http";
import type { Authority } from "./authority.ts";
import { Catalog, type Listing } from "./catalog.ts";
import { delayed, type Fault } from "./faults.ts";
import { fileReply } from "./file-reply.ts";
import { startListener, type Listener } from "./listener.ts";
import { makeRelease, type Release, type ReleaseOptions } from "./release.ts";
import { jsonReply, sendReply, type Reply } from "./reply.ts";
import {
  RequestLog,
  type LoggedRequest,
  type RequestKind,
} from "./request-log.ts";

export interface RegistryOptions {
  readonly authority: Authority;
  /** Another name in the certificate, beside localhost and 127.0.0.1. */
  readonly hostname?: string;
  readonly host?: string;
  readonly port?: number;
  /** Before the headers of every answer. */
  readonly latencyMs?: number;
  /** Bandwidth of every connection. */
  readonly bytesPerSecond?: number;
}

/** A release to be made and how it is listed. */
export type PublishOptions = ReleaseOptions & Listing;

export async function startRegistry(
  options: RegistryOptions,
): Promise<Registry> {
  const { authority, hostname, host = "127.0.0.1", port = 0 } = options;
  const names = new Set([host, "127.0.0.1", "localhost"]);
  if (hostname !== undefined) names.add(hostname);
  const certificate = await authority.issue([...names]);
  const listener = await startListener(
    certificate,
    (...asked) => void registry.answer(...asked),
    { host, port },
  );
  const registry = new Registry(options, listener);
  return registry;
}

/** An origin registry over HTTPS: discovery, `providers.v1`, and the files it names. */
export class Registry {
  readonly host: string;
  readonly requests = new RequestLog();
  /** Services of the discovery document; may be changed. */
  services: Record<string, unknown> = { "providers.v1": "/v1/providers/" };
  /** Whether files may be asked for in ranges, and have a strong ETag. */
  ranges = true;
  etags = true;
  latencyMs: number | undefined;
  bytesPerSecond: number | undefined;
  readonly #script = new Map<RequestKind, Fault | Fault[]>();
  readonly #catalog = new Catalog();
  readonly #listener: Listener;

  constructor(options: RegistryOptions, listener: Listener) {
    this.host = options.host ?? "127.0.0.1";
    this.latencyMs = options.latencyMs;
    this.bytesPerSecond = options.bytesPerSecond;
    this.#listener = listener;
  }

  get port(): number {
    return this.#listener.port;
  }

  /** `https://HOST:PORT/`. */
  get url(): string {
    return `https://${this.host}:${this.port}/`;
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
    this.#catalog.list(publication);
    files.#catalog.addFiles(publication);
  }

  /** The same version again with other archive bytes, validly signed. */
  republish(
    release: Release,
    changes: Partial<PublishOptions> = {},
  ): Promise<Release> {
    return this.publish({
      ...this.#catalog.find(release)?.listing,
      ...release.options,
      seed: `after ${release.checksums}`,
      ...changes,
    });
  }

  /** Everything of the release is not found from now on. */
  withdraw(release: Release): void {
    this.#catalog.remove(release);
  }

  /** Serves any other document, such as those of `modules.v1`. */
  serve(
    path: string,
    body: Uint8Array | string,
    contentType = "application/json",
  ): void {
    this.#catalog.addFile(path, Buffer.from(body), contentType);
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
    const { method = "GET", url: path = "/", headers } = request;
    const kind = kindOf(path);
    const open = this.requests.open({ kind, method, path, headers });
    response.once("close", () =>
      open.end(response.writableFinished ? "complete" : "cut"),
    );
    const reply = this.#paced(this.#replyTo(open.logged), open.logged);
    const script = this.#script.get(kind);
    const fault = Array.isArray(script) ? script.shift() : script;
    await sendReply(fault?.(reply, open.logged) ?? reply, response);
  }

  #replyTo(request: LoggedRequest): Reply {
    const path = request.path.replace(/\?.*$/, "");
    if (request.method !== "GET" && request.method !== "HEAD")
      return jsonReply(405, { errors: ["Method Not Allowed"] });
    const file = this.#catalog.file(path);
    if (file !== undefined) return fileReply(file, request.headers, this);
    const document =
      request.kind === "discovery"
        ? this.services
        : this.#catalog.document(path);
    return document === undefined
      ? jsonReply(404, { errors: ["Not Found"] })
      : jsonReply(200, document);
  }

  #paced(reply: Reply, request: LoggedRequest): Reply {
    const { latencyMs, bytesPerSecond } = this;
    const paced =
      bytesPerSecond === undefined ? reply : { ...reply, bytesPerSecond };
    return latencyMs === undefined ? paced : delayed(latencyMs)(paced, request);
  }
}

function kindOf(path: string): RequestKind {
  const [name = ""] = path.split("?");
  if (name === "/.well-known/terraform.json") return "discovery";
  if (/^\/v1\/providers\/[^/]+\/[^/]+\/versions$/.test(name)) return "versions";
  if (/^\/v1\/providers\/.*\/download\//.test(name)) return "package";
  if (name.endsWith("_SHA256SUMS")) return "checksums";
  if (name.endsWith("_SHA256SUMS.sig")) return "signature";
  if (/^\/archives\/.*\.zip$/.test(name)) return "archive";
  return "other";
}
