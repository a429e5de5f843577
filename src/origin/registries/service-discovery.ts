import * as z from "zod";
import { untilAborted } from "../../concurrency/in-time.ts";
import { failure } from "../../errors/index.ts";
import type { HttpClient } from "../http/http-client.ts";
import { describeFailure, unusable } from "../http/http-failure.ts";

/** The services that provider and module clients look for (Remote Service Discovery). */
type ServiceName = "providers.v1" | "modules.v1";

interface Discovered {
  readonly url: URL;
  readonly services: Readonly<Record<string, unknown>>;
  readonly until: number;
}

const document = z.record(z.string(), z.unknown());

/** Bytes; documents of real hosts have about one thousand. */
const longestDocument = 64 * 1024;

/** Remembers one host's discovery document for `freshFor` milliseconds; many askers share one request. */
export class ServiceDiscovery {
  readonly #http: HttpClient;
  readonly #start: URL;
  readonly #freshFor: number;
  readonly #now: () => number;
  #known: Discovered | undefined;
  #asking: Promise<Discovered> | undefined;

  /** `origin` ends in a slash: a registry may be below a path. `now` is monotonic, in milliseconds. */
  constructor(
    http: HttpClient,
    origin: URL,
    freshFor: number,
    now = () => performance.now(),
  ) {
    this.#http = http;
    this.#start = new URL(".well-known/terraform.json", origin);
    this.#freshFor = freshFor;
    this.#now = now;
  }

  /** The service's base URL, ending in `/`. */
  async findService(name: ServiceName, signal: AbortSignal): Promise<URL> {
    const discovered = await this.#discover(signal);
    const value = discovered.services[name];
    if (value === undefined && name === "modules.v1")
      throw failure("not-found", `a module registry at ${discovered.url.host}`);
    const url =
      typeof value === "string" ? URL.parse(value, discovered.url.href) : null;
    if (url === null)
      throw unusable(discovered.url, `it names no usable ${name} service`);
    if (!url.pathname.endsWith("/")) url.pathname += "/";
    return url;
  }

  async #discover(signal: AbortSignal): Promise<Discovered> {
    const known = this.#known;
    const isFresh = known !== undefined && this.#now() < known.until;
    // A suspended host gets one probe at a time: the request itself shall be it, not discovery.
    const isSpared = known !== undefined && this.#http.isSuspended(this.#start);
    if (isFresh || isSpared) return known;
    this.#asking ??= this.#ask();
    return untilAborted(this.#asking, signal).catch((error: unknown) => {
      throw describeFailure(this.#start, error, "request");
    });
  }

  async #ask(): Promise<Discovered> {
    const detached = new AbortController().signal;
    try {
      const { url, value } = await this.#http.fetchJson(
        ...([this.#start, detached, longestDocument] as const),
      );
      const parsed = document.safeParse(value);
      if (!parsed.success)
        throw unusable(url, "it is not a service discovery document");
      const until = this.#now() + this.#freshFor;
      this.#known = { url, services: parsed.data, until };
      return this.#known;
    } finally {
      this.#asking = undefined;
    }
  }
}
