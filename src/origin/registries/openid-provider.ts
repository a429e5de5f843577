import { z } from "zod";
import type { HttpClient } from "../http/http-client.ts";
import { unusable } from "../http/http-failure.ts";

/**
 * Public key as its issuer publishes it (RFC 7517, 4); its user checks the
 * members.
 */
type PublishedKey = Readonly<Record<string, unknown>> & {
  readonly kty: string;
};

/** Configuration of an OpenID provider at one time. */
export interface OpenIdConfiguration {
  readonly authorizationEndpoint: URL;
  readonly tokenEndpoint: URL;
  readonly keys: readonly PublishedKey[];
}

interface OpenIdSettings {
  /** The issuer's identifier; with or without a slash at its end. */
  readonly issuer: URL;
  /** Milliseconds for one answer in all. */
  readonly deadline: number;
  /** Milliseconds for which its keys are used while it is failing. */
  readonly staleFor: number;
  /** Milliseconds on the monotonic clock. */
  readonly now: () => number;
}

interface Known {
  readonly value: OpenIdConfiguration;
  readonly at: number;
}

const freshFor = 10 * 60_000;
/** Requests to the issuer, at most, in so many milliseconds. */
const mostAsked = { times: 4, within: 60_000 };
/** Bytes. */
const longestDocument = 256 * 1024;

const httpsEndpoint = z
  .url({ protocol: /^https$/ })
  .transform((text) => new URL(text));

/** OpenID Connect Discovery 1.0, 3. */
const metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: httpsEndpoint,
  token_endpoint: httpsEndpoint,
  jwks_uri: httpsEndpoint,
});

/** RFC 7517, 5. */
const keySet = z.object({
  keys: z.array(z.looseObject({ kty: z.string() })).max(100),
});

/** Asks an issuer for its endpoints and keys, remembers them for 10 minutes, and keeps them while it is failing. */
export class OpenIdProvider {
  readonly #http: HttpClient;
  readonly #settings: OpenIdSettings;
  #known: Known | undefined;
  #asking: Promise<OpenIdConfiguration> | undefined;
  /** Times of the requests. */
  #asked: readonly number[] = [];
  #failure: unknown;

  constructor(http: HttpClient, settings: OpenIdSettings) {
    this.#http = http;
    this.#settings = settings;
  }

  /** Fresh, or stale while the issuer is failing; throws its failure when nothing is known. */
  async find(): Promise<OpenIdConfiguration> {
    const { now, staleFor } = this.#settings;
    const known = this.#known;
    const age = known === undefined ? Infinity : now() - known.at;
    if (known !== undefined && age < freshFor) return known.value;
    try {
      return await this.#askWithinBounds();
    } catch (error) {
      if (known !== undefined && age < freshFor + staleFor) return known.value;
      throw error;
    }
  }

  /**
   * Returns a configuration newer than `seen`, with a request if one is allowed
   * again. Returns `seen` itself after too many requests. Throws the issuer's
   * failure.
   */
  async findNewer(seen: OpenIdConfiguration): Promise<OpenIdConfiguration> {
    const known = this.#known?.value;
    if (known !== undefined && known !== seen) return known;
    if (this.#mayAsk() || this.#failure !== undefined)
      return this.#askWithinBounds();
    return seen;
  }

  #mayAsk(): boolean {
    const since = this.#settings.now() - mostAsked.within;
    this.#asked = this.#asked.filter((at) => at > since);
    return this.#asking !== undefined || this.#asked.length < mostAsked.times;
  }

  /**
   * Sends one request for concurrent callers. Rethrows the last failure after
   * too many requests.
   */
  async #askWithinBounds(): Promise<OpenIdConfiguration> {
    if (!this.#mayAsk()) {
      if (this.#failure !== undefined) throw this.#failure as Error;
      if (this.#known !== undefined) return this.#known.value;
    }
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<OpenIdConfiguration> {
    const { now, deadline } = this.#settings;
    this.#asked = [...this.#asked, now()];
    try {
      const value = await this.#fetch(AbortSignal.timeout(deadline));
      this.#failure = undefined;
      this.#known = { value, at: now() };
      return value;
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  async #fetch(signal: AbortSignal): Promise<OpenIdConfiguration> {
    const { issuer } = this.#settings;
    const path = `${withoutSlash(issuer.pathname)}/.well-known/openid-configuration`;
    const found = await this.#read(new URL(path, issuer), metadata, signal);
    // A different issuer could speak for this one (Discovery 1.0, 4.3).
    if (withoutSlash(found.issuer) !== withoutSlash(issuer.href))
      throw unusable(
        issuer,
        `it calls itself ${JSON.stringify(found.issuer.slice(0, 200))}: set "auth.oidc.issuer" to the name that it has`,
      );
    const { keys } = await this.#read(found.jwks_uri, keySet, signal);
    return {
      authorizationEndpoint: found.authorization_endpoint,
      tokenEndpoint: found.token_endpoint,
      keys,
    };
  }

  /** Key sets have a media type of their own (RFC 7517, 8.5), so none is asked for. */
  async #read<T>(
    url: URL,
    shape: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const document = await this.#http.fetchDocument(
      url,
      longestDocument,
      signal,
    );
    return parseDocument(document, shape);
  }
}

function parseDocument<T>(
  { url, bytes }: { readonly url: URL; readonly bytes: Uint8Array },
  shape: z.ZodType<T>,
): T {
  try {
    return shape.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    const reason = "it is not what OpenID Connect describes";
    throw unusable(url, reason, { cause: error });
  }
}

function withoutSlash(text: string): string {
  return text.replace(/\/$/, "");
}
