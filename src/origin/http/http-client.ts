import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { SecureContext } from "node:tls";
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from "undici";
import { isCut, isFailure } from "../../errors/index.ts";
import { makeTrust } from "../../network/trusted-certificates.ts";
import type { OriginResult } from "../../telemetry/series/labels.ts";
import {
  checkUrl,
  guardedLookup,
  isConfigured,
} from "../guard/address-guard.ts";
import type { OriginLimits, OriginSettings } from "../guard/origin-settings.ts";
import { OriginHealth } from "../health/origin-health.ts";
import { receiveArchive } from "./archive-body.ts";
import {
  acceptAnswer,
  announcedSize,
  type Answer,
  checkJsonType,
  contentCodings,
  discard,
  encoded,
  mediaType,
  peek,
  readWhole,
  refusePage,
  single,
  tooLarge,
} from "./http-answer.ts";
import {
  describeFailure,
  describeStatus,
  originResult,
  unusable,
} from "./http-failure.ts";

/** A small document, whole; `url` is where the redirects ended. */
interface OriginDocument {
  readonly url: URL;
  readonly bytes: Uint8Array;
}

/** An archive that starts to arrive; iterating `body` throws when it ends early, stalls or grows too large. */
export interface OriginArchive {
  readonly url: URL;
  readonly contentType: string;
  readonly size: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/** A small answer that may have no body, with its headers. */
export interface OriginAnswer extends OriginDocument {
  readonly headers: IncomingHttpHeaders;
}

export interface HttpClientEvents extends OriginEvents {
  readonly onRetry: () => void;
  /** The rest of a cut archive is asked for. */
  readonly onResume: () => void;
}

const unwatched = {
  onSuspended: () => undefined,
  onResumed: () => undefined,
  onRetry: () => undefined,
  onResume: () => undefined,
  onAsked: () => undefined,
  onReceived: () => undefined,
};

/**
 * Client for documents and archives of one origin, each with a size limit and a
 * deadline. `subject` names their provider.
 */
export class HttpClient {
  readonly #limits: OriginLimits;
  readonly #health: OriginHealth;
  readonly #requests: OriginRequests;
  readonly #events: HttpClientEvents;

  constructor(
    settings: OriginSettings,
    limits: OriginLimits,
    health: OriginHealth = new OriginHealth(() => performance.now(), unwatched),
    events: HttpClientEvents = unwatched,
  ) {
    this.#limits = limits;
    this.#health = health;
    this.#requests = new OriginRequests(settings, limits, health, events);
    this.#events = events;
  }

  /** Any media type but a page for people; throws origin-answer above `maxBytes`. */
  async fetchDocument(
    url: URL,
    maxBytes: number,
    asker: AbortSignal,
    subject?: string,
  ): Promise<OriginDocument> {
    const question = makeQuestion("*/*", subject, asker);
    const signal = this.#deadline(asker);
    return await this.#try(url, question, signal, async (answer) => {
      const bytes = await readWhole(answer, maxBytes);
      refusePage(answer, bytes);
      return { url: answer.url, bytes };
    });
  }

  /**
   * JSON of any media type, since registries may be plain files: clients look at
   * it in discovery alone, as with `isTyped`. The value's shape is not yet checked.
   */
  async fetchJson(
    url: URL,
    asker: AbortSignal,
    maxBytes: number = this.#limits.originJson,
    subject?: string,
    isTyped = false,
  ): Promise<{ readonly url: URL; readonly value: unknown }> {
    const question = makeQuestion("application/json", subject, asker);
    const signal = this.#deadline(asker);
    const read = await this.#try(url, question, signal, async (answer) => {
      if (isTyped) checkJsonType(answer);
      const bytes = await readWhole(answer, maxBytes);
      refusePage(answer, bytes);
      return { url: answer.url, bytes };
    });
    return { url: read.url, value: parseJsonText(read.url, read.bytes) };
  }

  /** JSON or no body (204). */
  async fetchAnswer(
    url: URL,
    maxBytes: number,
    asker: AbortSignal,
    subject?: string,
  ): Promise<OriginAnswer> {
    const asked = makeQuestion("application/json", subject, asker);
    const question = { ...asked, statuses: [200, 204] };
    const signal = this.#deadline(asker);
    return await this.#try(url, question, signal, async (answer) => {
      const bytes = await readWhole(answer, maxBytes);
      return { url: answer.url, headers: answer.headers, bytes };
    });
  }

  /**
   * The deadline of documents does not apply; the archive's own size, idle and
   * rate limits do. A body that is cut goes on with the rest where that is
   * surely of the same archive.
   */
  async openArchive(
    url: URL,
    asker: AbortSignal,
    subject?: string,
  ): Promise<OriginArchive> {
    const question = makeQuestion("*/*", subject, asker);
    const answer = await this.#openBody(url, question);
    const size = announcedSize(answer);
    if (size !== undefined && size > this.#limits.archive)
      throw tooLarge(answer, this.#limits.archive);
    const body = receiveArchive(answer, this.#limits, (headers) => {
      this.#events.onResume();
      const statuses = [200, 206];
      const again = makeQuestion("*/*", subject, asker);
      return this.#openBody(url, { ...again, headers, statuses });
    });
    const contentType = mediaType(answer);
    return { url: answer.url, contentType, size, body };
  }

  /** True while the host is spared because it fails or asked for it. */
  isSuspended(url: URL): boolean {
    return this.#health.isSuspended(url);
  }

  async close(): Promise<void> {
    await this.#requests.close();
  }

  #openBody(url: URL, question: Question): Promise<Answer> {
    return this.#try(url, question, question.asker, async (answer) => {
      if (contentCodings(answer).length > 0) throw encoded(answer);
      if (mediaType(answer) === "text/html")
        refusePage(answer, await peek(answer, this.#limits.stalled));
      return answer;
    });
  }

  #deadline(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, AbortSignal.timeout(this.#limits.json)]);
  }

  #try<T>(
    url: URL,
    question: Question,
    signal: AbortSignal,
    read: (answer: Answer) => Promise<T> | T,
  ): Promise<T> {
    const { subject } = question;
    const attempt = async () =>
      read(await this.#requests.follow(url, signal, question));
    return withRetries(attempt, signal, {
      isSuspended: () => this.#health.isSuspended(url, subject),
      onRetry: this.#events.onRetry,
    });
  }
}

/** Events for observers; never waited for. */
interface OriginEvents {
  /** A request to a host was answered, or failed, after so many milliseconds. */
  readonly onAsked: (result: OriginResult, milliseconds: number) => void;
  readonly onReceived: (bytes: number) => void;
}

/** Request as sent to every host on the way to an answer. */
interface Question {
  readonly accept: string;
  /** Statuses of good answers. */
  readonly statuses: readonly number[];
  /** Range and If-Range, for the rest of an archive. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Subject of the document: a provider, so that its failures affect no other;
   * undefined for all.
   */
  readonly subject: string | undefined;
  /** Signal of the client: its abort proves nothing about the host. */
  readonly asker: AbortSignal;
  /** Hosts against which this counted, however often it is tried. */
  readonly counted: Set<string>;
}

function makeQuestion(
  accept: string,
  subject: string | undefined,
  asker: AbortSignal,
): Question {
  const counted = new Set<string>();
  return { accept, statuses: [200], headers: {}, subject, asker, counted };
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Requests of one origin, to it and to where its answers lead: guarded, with its credentials at home only, and to no suspended host. */
class OriginRequests {
  readonly #settings: OriginSettings;
  readonly #limits: OriginLimits;
  readonly #health: OriginHealth;
  readonly #events: OriginEvents;
  #made: Dispatchers | undefined;

  constructor(
    settings: OriginSettings,
    limits: OriginLimits,
    health: OriginHealth,
    events: OriginEvents,
  ) {
    this.#settings = settings;
    this.#limits = limits;
    this.#health = health;
    this.#events = events;
  }

  async close(): Promise<void> {
    await this.#made?.close();
  }

  /** Made with the first request: reading the machine's certificates takes 0.2 s, which commands that ask no origin need not spend. */
  get #dispatchers(): Dispatchers {
    this.#made ??= makeDispatchers(this.#settings, this.#limits);
    return this.#made;
  }

  /** Follows redirects by hand, so that every hop is checked and credentials stay at home. */
  async follow(
    start: URL,
    signal: AbortSignal,
    question: Question,
  ): Promise<Answer> {
    let url = start;
    for (let hop = 0; hop <= this.#limits.redirects; hop++) {
      checkUrl(url, this.#settings);
      const response = await this.#request(url, signal, question);
      if (!redirects.has(response.statusCode))
        return acceptAnswer(
          url,
          response,
          question.statuses,
          this.#events.onReceived,
        );
      discard(response.body);
      url = redirectTarget(url, response.headers.location);
    }
    const { redirects: most } = this.#limits;
    throw unusable(start, `it redirects more than ${most} times`);
  }

  /** Asks no suspended host, and reports how it went. */
  async #request(
    url: URL,
    signal: AbortSignal,
    question: Question,
  ): Promise<Dispatcher.ResponseData> {
    const { subject, asker, counted } = question;
    const passage = this.#health.admit(url, subject);
    const began = performance.now();
    const tell = (failure?: unknown) =>
      this.#events.onAsked(originResult(failure), performance.now() - began);
    const settle = (failure: unknown) => {
      passage.settle(failure, counted.has(url.host));
      counted.add(url.host);
    };
    try {
      const response = await this.#send(url, signal, question);
      const { statusCode, headers } = response;
      const failure =
        statusCode < 400 ? undefined : describeStatus(url, statusCode, headers);
      tell(failure);
      if (statusCode < 500 && statusCode !== 429) passage.settle(undefined);
      else settle(failure);
      return response;
    } catch (error) {
      const failure = describeFailure(url, error, "request");
      if (asker.aborted) passage.abandon();
      else {
        tell(failure);
        settle(failure);
      }
      throw failure;
    }
  }

  #send(
    url: URL,
    signal: AbortSignal,
    { accept, headers }: Question,
  ): Promise<Dispatcher.ResponseData> {
    const configured = isConfigured(url, this.#settings);
    const dispatcher = configured
      ? this.#dispatchers.configured
      : this.#dispatchers.guarded;
    return request(url, {
      dispatcher,
      signal,
      headers: {
        accept,
        "accept-encoding": "identity",
        "user-agent": "provender",
        ...headers,
        ...this.#credentials(url),
      },
    });
  }

  /** The origin's token at home; elsewhere a login that the URL itself brings, as clients send it. */
  #credentials(url: URL): Record<string, string> {
    const { token, url: home } = this.#settings;
    if (token !== undefined && url.origin === home.origin)
      return { authorization: `Bearer ${token}` };
    if (url.username === "" && url.password === "") return {};
    const login = [url.username, url.password].map(decodeEscapes).join(":");
    const encoded = Buffer.from(login).toString("base64");
    return { authorization: `Basic ${encoded}` };
  }
}

/** A stray `%` of a password stands for itself. */
function decodeEscapes(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) =>
    Buffer.from(escapes.replaceAll("%", ""), "hex").toString(),
  );
}

/** Bytes beyond ASCII, which arrive as Latin-1, mean themselves whatever their encoding. */
function escapeBytes(location: string): string {
  return location.replace(
    /[\x80-\xff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function redirectTarget(
  from: URL,
  location: string | string[] | undefined,
): URL {
  const target = URL.parse(escapeBytes(single(location) ?? ""), from.href);
  if (target === null || location === undefined)
    throw unusable(from, "a redirect without a usable Location");
  return target;
}

/**
 * Connections to one host: more than all downloads of an origin, and few enough
 * for its good will and our descriptors.
 */
const mostConnections = 48;

/** Two connection pools of one origin: for hosts the operator wrote, and for all others. */
interface Dispatchers {
  readonly configured: Dispatcher;
  readonly guarded: Dispatcher;
  close(): Promise<void>;
}

/** Names behind a proxy are resolved by the proxy, so there only the URL is checked. */
function makeDispatchers(
  settings: OriginSettings,
  limits: OriginLimits,
): Dispatchers {
  const trust = makeTrust(settings.ca);
  const configured = makeDispatcher(settings, limits, trust, {});
  const guarded = settings.allowPrivateAddresses
    ? configured
    : makeDispatcher(settings, limits, trust, { lookup: guardedLookup });
  return {
    configured,
    guarded,
    close: async () => {
      await Promise.all([configured.destroy(), guarded.destroy()]);
    },
  };
}

function makeDispatcher(
  { proxy }: OriginSettings,
  limits: OriginLimits,
  secureContext: SecureContext,
  resolver: { lookup?: typeof guardedLookup },
): Dispatcher {
  const { connect: timeout } = limits;
  const tls = { secureContext, timeout, ...resolver };
  const options = {
    headersTimeout: limits.firstByte,
    bodyTimeout: limits.idle,
    maxHeaderSize: 64 * 1024,
    allowH2: false,
    connections: mostConnections,
  };
  if (proxy.https === undefined) return new Agent({ ...options, connect: tls });
  return new EnvHttpProxyAgent({
    ...options,
    connect: tls,
    requestTls: { secureContext, timeout },
    proxyTls: { secureContext, timeout },
    httpsProxy: proxy.https.href,
    noProxy: proxy.no ?? "",
  });
}

/** Attempts at one request, the first one included. */
const tries = 3;
/** Milliseconds before the second try at most; twice that before the third. */
const longestDelay = 200;

interface RetryRules {
  /** True when a try would be refused anyway, so that no time is spent on it. */
  readonly isSuspended: () => boolean;
  readonly onRetry: () => void;
}

/**
 * Tries up to three times what only reads, while failures are of a kind that
 * can pass and `signal` leaves time; throws the last failure that the origin
 * itself had.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  { isSuspended, onRetry }: RetryRules,
): Promise<T> {
  let failure: unknown;
  for (let tried = 1; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      // The failure before a suspension explains more than the suspension.
      const isOurs = isFailure(error, "origin-suspended");
      failure = isOurs && tried > 1 ? failure : error;
    }
    if (tried === tries || !canPass(failure) || isSuspended()) throw failure;
    if (!(await waitBefore(tried, signal))) throw failure;
    onRetry();
  }
}

/** Half of the time is fixed and half is chance, so that many mirrors do not come back together. */
async function waitBefore(
  retry: number,
  signal: AbortSignal,
): Promise<boolean> {
  const longest = longestDelay * retry;
  const ms = longest * (0.5 + Math.random() / 2);
  await delay(ms, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

/**
 * True for a failure that may pass: a broken connection, or a status that means
 * "not now".
 */
function canPass(error: unknown): boolean {
  if (isFailure(error, "origin-status"))
    return passingStatuses.has(error.status);
  return (
    isFailure(error, "origin-unreachable", "origin-timeout") || isCut(error)
  );
}

const passingStatuses: ReadonlySet<number> = new Set([408, 500, 502, 503, 504]);

/**
 * Limit of `[`, `{` and `:` together; a list of 5,000 versions for 25 platforms
 * has fewer.
 */
const mostMarks = 400_000;
const [bracket, brace, colon] = Buffer.from("[{:");

/**
 * Parses a JSON text in UTF-8. Throws origin-answer for other bytes. Also
 * throws it for a text whose objects and arrays take far more memory and time
 * than its size.
 */
export function parseJsonText(url: URL, bytes: Uint8Array): unknown {
  if (bytes.length > mostMarks && hasMoreMarks(bytes))
    throw unusable(url, "it has too many objects, arrays and keys");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw unusable(url, "it is not JSON", { cause: error });
  }
}

function hasMoreMarks(bytes: Uint8Array): boolean {
  let count = 0;
  for (const byte of bytes)
    if (byte === bracket || byte === brace || byte === colon) count++;
  return count > mostMarks;
}
