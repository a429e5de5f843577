import type { IncomingHttpHeaders } from "node:http";
import { request, type Dispatcher } from "undici";
import { OriginAddressRefused, OriginAnswerUnusable } from "../errors.ts";
import {
  checkUrl,
  isConfigured,
  type AddressAllowance,
} from "./address-guard.ts";
import { makeDispatchers, type Dispatchers } from "./dispatchers.ts";
import { describeFailure, describeStatus } from "./http-failure.ts";
import type { OriginLimits, OriginSettings } from "./origin-settings.ts";
import { formatPublicUrl } from "./public-url.ts";

/** A small document, whole; `url` is where the redirects ended. */
export interface OriginDocument {
  readonly url: URL;
  readonly bytes: Uint8Array;
}

/** An archive that starts to arrive; iterating `body` throws when it ends early, stalls or grows too large. */
export interface OriginArchive {
  readonly url: URL;
  readonly size: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

interface Answer {
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: Dispatcher.ResponseData["body"];
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** GET requests to one origin and to where its answers lead, each with a size limit, a deadline and the address guard. */
export class HttpClient {
  readonly #settings: OriginSettings;
  readonly #limits: OriginLimits;
  readonly #allowance: AddressAllowance;
  #made: Dispatchers | undefined;

  constructor(settings: OriginSettings, limits: OriginLimits) {
    this.#settings = settings;
    this.#limits = limits;
    this.#allowance = {
      configured: settings.configuredHosts,
      allowPrivateAddresses: settings.allowPrivateAddresses,
    };
  }

  /** Any media type but a page for people; throws OriginAnswerUnusable above `maxBytes`. */
  async fetchDocument(
    url: URL,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<OriginDocument> {
    const deadline = this.#deadline(signal);
    const answer = await this.#get(url, deadline, "*/*");
    refusePage(answer);
    return { url: answer.url, bytes: await readWhole(answer, maxBytes) };
  }

  /** `application/json` with or without parameters, parsed; the value is not yet checked for shape. */
  async fetchJson(
    url: URL,
    signal: AbortSignal,
    maxBytes: number = this.#limits.originJson,
  ): Promise<{ readonly url: URL; readonly value: unknown }> {
    const deadline = this.#deadline(signal);
    const answer = await this.#get(url, deadline, "application/json");
    checkMediaType(answer);
    const bytes = await readWhole(answer, maxBytes);
    return { url: answer.url, value: parseJson(answer.url, bytes) };
  }

  /** The deadline of documents does not apply; the archive's own size, idle and rate limits do. */
  async openArchive(url: URL, signal: AbortSignal): Promise<OriginArchive> {
    const answer = await this.#get(url, signal, "*/*");
    refusePage(answer);
    const size = announcedSize(answer);
    if (size !== undefined && size > this.#limits.archive)
      throw tooLarge(answer, this.#limits.archive);
    const body = limitBody(answer, this.#limits);
    return { url: answer.url, size, body };
  }

  async close(): Promise<void> {
    await this.#made?.close();
  }

  /** Made with the first request: reading the machine's certificates takes 0.2 s, which commands that ask nobody need not spend. */
  get #dispatchers(): Dispatchers {
    this.#made ??= makeDispatchers(this.#settings, this.#limits);
    return this.#made;
  }

  #deadline(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, AbortSignal.timeout(this.#limits.json)]);
  }

  /** Follows redirects by hand, so that every hop is checked and credentials stay at home. */
  async #get(start: URL, signal: AbortSignal, accept: string): Promise<Answer> {
    let url = start;
    for (let hop = 0; hop <= this.#limits.redirects; hop++) {
      checkUrl(url, this.#allowance);
      const response = await this.#request(url, signal, accept);
      if (!redirects.has(response.statusCode)) return accepted(url, response);
      discard(response.body);
      url = redirectTarget(url, response.headers.location);
    }
    throw new OriginAddressRefused(
      formatPublicUrl(start),
      `it redirects more than ${this.#limits.redirects} times`,
    );
  }

  async #request(
    url: URL,
    signal: AbortSignal,
    accept: string,
  ): Promise<Dispatcher.ResponseData> {
    const configured = isConfigured(url, this.#allowance);
    const dispatcher = configured
      ? this.#dispatchers.configured
      : this.#dispatchers.guarded;
    try {
      return await request(url, {
        dispatcher,
        signal,
        headers: {
          accept,
          "accept-encoding": "identity",
          "user-agent": "provender",
          ...this.#credentials(url),
        },
      });
    } catch (error) {
      throw describeFailure(url, error, "request");
    }
  }

  #credentials(url: URL): Record<string, string> {
    const { token, url: home } = this.#settings;
    return token !== undefined && url.origin === home.origin
      ? { authorization: `Bearer ${token}` }
      : {};
  }
}

function accepted(url: URL, response: Dispatcher.ResponseData): Answer {
  const { statusCode, headers, body } = response;
  if (statusCode !== 200) {
    discard(body);
    throw describeStatus(url, statusCode, single(headers["retry-after"]));
  }
  const encoding = single(headers["content-encoding"]) ?? "identity";
  if (encoding !== "identity") {
    discard(body);
    throw unusable(url, `content encoding ${encoding}, expected none`);
  }
  return { url, headers, body };
}

/** Ends a response that is not read; its late errors concern nobody. */
function discard(body: Answer["body"]): void {
  body.on("error", () => undefined);
  body.destroy();
}

function redirectTarget(
  from: URL,
  location: string | string[] | undefined,
): URL {
  const target = URL.parse(single(location) ?? "", from.href);
  if (target === null || location === undefined)
    throw unusable(from, "a redirect without a usable Location");
  return target;
}

function checkMediaType(answer: Answer): void {
  const type = mediaType(answer);
  if (type === "application/json") return;
  discard(answer.body);
  throw unusable(answer.url, `media type "${type}", expected application/json`);
}

/** Captive portals and proxies answer 200 with a page: a failing origin, and no word against the publisher. */
function refusePage(answer: Answer): void {
  if (mediaType(answer) !== "text/html") return;
  discard(answer.body);
  throw unusable(answer.url, "it is a page for people (text/html)");
}

function mediaType({ headers }: Answer): string {
  const [type = ""] = (single(headers["content-type"]) ?? "").split(";");
  return type.trim().toLowerCase();
}

function parseJson(url: URL, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new OriginAnswerUnusable(formatPublicUrl(url), "it is not JSON", {
      cause: error,
    });
  }
}

async function readWhole(
  answer: Answer,
  maxBytes: number,
): Promise<Uint8Array> {
  const announced = announcedSize(answer);
  if (announced !== undefined && announced > maxBytes)
    throw tooLarge(answer, maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of failuresOf(answer)) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(answer, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

async function* failuresOf(answer: Answer): AsyncGenerator<Uint8Array> {
  try {
    yield* answer.body as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw describeFailure(answer.url, error, "body");
  } finally {
    discard(answer.body);
  }
}

/** Passes the body on while it keeps to the archive's size and to the least rate over each window. */
async function* limitBody(
  answer: Answer,
  limits: OriginLimits,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  let window = { start: performance.now(), size: 0 };
  for await (const chunk of failuresOf(answer)) {
    size += chunk.length;
    if (size > limits.archive) throw tooLarge(answer, limits.archive);
    const now = performance.now();
    if (now - window.start >= limits.rateWindow) {
      const least = (limits.rate * (now - window.start)) / 1000;
      if (size - window.size < least)
        throw unusable(answer.url, "it arrives more slowly than limits.rate");
      window = { start: now, size };
    }
    yield chunk;
  }
}

function announcedSize({ headers }: Answer): number | undefined {
  const text = single(headers["content-length"]);
  return text !== undefined && /^[0-9]{1,15}$/.test(text)
    ? Number(text)
    : undefined;
}

function tooLarge(answer: Answer, maxBytes: number): OriginAnswerUnusable {
  discard(answer.body);
  return unusable(answer.url, `it is larger than ${maxBytes} bytes`);
}

function unusable(url: URL, reason: string): OriginAnswerUnusable {
  return new OriginAnswerUnusable(formatPublicUrl(url), reason);
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
