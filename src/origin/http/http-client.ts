import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import {
  Agent,
  buildConnector,
  type Dispatcher,
  EnvHttpProxyAgent,
  request,
} from "undici";
import { isCut, isFailure } from "../../errors/index.ts";
import { makeTrust } from "../../network/trusted-certificates.ts";
import type { OriginResult } from "../../telemetry/definitions.ts";
import { checkUrl, guardedLookup, isFree } from "../guard/address-guard.ts";
import type { OriginLimits, OriginSettings } from "../guard/origin-settings.ts";
import { receiveArchive } from "./archive-body.ts";
import {
  announcedSize,
  aPage,
  type Answer,
  discard,
  encoded,
  isEncoded,
  isPage,
  mediaType,
  peek,
  readWhole,
  refuse,
  single,
  tooLarge,
} from "./http-answer.ts";
import {
  describeFailure,
  describeStatus,
  originResult,
  unusable,
} from "./http-failure.ts";
import { OriginHealth } from "./origin-health.ts";

/** An archive that starts to arrive; iterating `body` throws when it ends early, stalls or grows too large. */
export interface OriginArchive {
  readonly url: URL;
  readonly contentType: string;
  readonly size: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/** A small answer, whole; `url` is where the redirects ended. */
export interface OriginAnswer {
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Uint8Array;
}

/** Events for observers; never waited for. */
interface HttpClientEvents {
  /** A request to a host was answered, or failed, after so many milliseconds. */
  readonly onAsked?: (result: OriginResult, milliseconds: number) => void;
  readonly onReceived?: (bytes: number) => void;
}

/** Request as sent to every host on the way to an answer. */
interface Question {
  readonly accept: string;
  /** Signal of the client: its abort proves nothing about the host. */
  readonly asker: AbortSignal;
  /** Such as Range and If-Range, for the rest of an archive. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses of good answers, when that is not 200 alone. */
  readonly statuses?: readonly number[];
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Attempts at one request, the first one included. */
const tries = 3;
/** Milliseconds before the second try at most; twice that before the third. */
const longestDelay = 200;

const passingStatuses: ReadonlySet<number> = new Set([408, 500, 502, 503, 504]);

/** True for a failure that may pass: a broken connection, or a status that means "not now". */
function canPass(error: unknown): boolean {
  return isFailure(error, "origin-status")
    ? passingStatuses.has(error.status)
    : isFailure(error, "origin-unreachable", "origin-timeout") || isCut(error);
}

/**
 * Client for documents and archives of one origin, each with a size limit and a deadline: every hop is guarded, its
 * token stays at home, and no suspended host is asked.
 *
 * Redirects, retries and resumes are our own. undici's interceptors read the body of a redirect to its end, lose a login
 * in a Location, resume without an ETag, and cannot begin anew where a server knows no ranges.
 */
export class HttpClient {
  readonly #settings: OriginSettings;
  readonly #limits: OriginLimits;
  readonly #health: OriginHealth;
  readonly #events: HttpClientEvents;
  /** Made with the first request: reading the machine's certificates takes 0.2 s, which commands that ask no origin need not spend. */
  #dispatcher: Dispatcher | undefined;

  constructor(
    settings: OriginSettings,
    limits: OriginLimits,
    health = new OriginHealth(),
    events: HttpClientEvents = {},
  ) {
    this.#settings = settings;
    this.#limits = limits;
    this.#health = health;
    this.#events = events;
  }

  /** Any media type but a page for people; throws origin-answer above `maxBytes`. */
  async fetchDocument(
    url: URL,
    maxBytes: number,
    asker: AbortSignal,
    more: Partial<Question> = {},
  ): Promise<OriginAnswer> {
    const question = { accept: "*/*", asker, ...more };
    const answer = await this.#fetchWhole(url, maxBytes, question);
    if (isPage(answer, answer.bytes)) throw unusable(answer.url, aPage);
    return answer;
  }

  /** JSON of any media type, since registries may be plain files. The value's shape is not yet checked. */
  async fetchJson(
    url: URL,
    asker: AbortSignal,
    maxBytes: number = this.#limits.originJson,
  ): Promise<{ readonly url: URL; readonly value: unknown }> {
    const answer = await this.fetchDocument(url, maxBytes, asker, {
      accept: "application/json",
      // A cache on the way, or another mirror, may have what is out of date.
      headers: { "cache-control": "no-cache" },
    });
    return { url: answer.url, value: parseJsonText(answer.url, answer.bytes) };
  }

  /** JSON or no body (204). */
  fetchAnswer(
    url: URL,
    maxBytes: number,
    asker: AbortSignal,
  ): Promise<OriginAnswer> {
    const accept = "application/json";
    const question = { accept, asker, statuses: [200, 204] };
    return this.#fetchWhole(url, maxBytes, question);
  }

  /**
   * The archive's own size, idle and rate limits apply, and no deadline. A body that is cut goes on with the rest where
   * that is surely of the same archive.
   */
  async openArchive(url: URL, asker: AbortSignal): Promise<OriginArchive> {
    const question = { accept: "*/*", asker };
    const answer = await this.#openBody(url, question);
    const size = announcedSize(answer);
    if (size !== undefined && size > this.#limits.archive)
      throw tooLarge(answer, this.#limits.archive);
    const body = receiveArchive(answer, this.#limits, (headers) => {
      return this.#openBody(url, {
        ...question,
        headers,
        statuses: [200, 206],
      });
    });
    const contentType = mediaType(answer);
    return { url: answer.url, contentType, size, body };
  }

  /** True while the host is spared because it fails or asked for it. */
  isSuspended(url: URL): boolean {
    return this.#health.isSuspended(url);
  }

  async close(): Promise<void> {
    await this.#dispatcher?.destroy();
  }

  #fetchWhole(
    start: URL,
    maxBytes: number,
    question: Question,
  ): Promise<OriginAnswer> {
    const deadline = AbortSignal.timeout(this.#limits.json);
    const signal = AbortSignal.any([question.asker, deadline]);
    return this.#try(start, question, signal, async (answer) => {
      const { url, headers } = answer;
      return { url, headers, bytes: await readWhole(answer, maxBytes) };
    });
  }

  #openBody(url: URL, question: Question): Promise<Answer> {
    return this.#try(url, question, question.asker, async (answer) => {
      const { "content-encoding": coding } = answer.headers;
      if (coding === undefined && mediaType(answer) !== "text/html")
        return answer;
      const start = await peek(answer, this.#limits.stalled);
      if (isPage(answer, start)) throw refuse(answer, aPage);
      // The rest of an archive that goes on begins anywhere.
      if (answer.status !== 206 && isEncoded(answer, start))
        throw encoded(answer);
      return answer;
    });
  }

  /** Tries up to three times, while failures are of a kind that can pass and `signal` leaves time. */
  async #try<T>(
    url: URL,
    question: Question,
    signal: AbortSignal,
    read: (answer: Answer) => Promise<T>,
  ): Promise<T> {
    let failure: unknown;
    for (let tried = 1; ; tried++) {
      try {
        return await read(await this.#follow(url, question, signal, tried > 1));
      } catch (error) {
        // The failure before a suspension explains more than the suspension.
        if (tried > 1 && isFailure(error, "origin-suspended")) throw failure;
        failure = error;
      }
      if (tried === tries || !canPass(failure)) throw failure;
      // Half of the time is chance, so that many mirrors do not come back together.
      const ms = longestDelay * tried * (0.5 + Math.random() / 2);
      await delay(ms, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw failure;
    }
  }

  async #follow(
    start: URL,
    question: Question,
    signal: AbortSignal,
    isRepeated: boolean,
  ): Promise<Answer> {
    const { redirects: most } = this.#limits;
    let url = start;
    for (let hop = 0; hop <= most; hop++) {
      checkUrl(url, this.#settings);
      const response = await this.#request(url, question, signal, isRepeated);
      const { statusCode: status, headers, body } = response;
      const { onReceived = () => undefined } = this.#events;
      if ((question.statuses ?? [200]).includes(status))
        return { url, status, headers, body, onReceived };
      discard(body);
      if (!redirects.has(status)) throw describeStatus(url, status, headers);
      url = redirectTarget(url, headers.location);
    }
    throw unusable(start, `it redirects more than ${most} times`);
  }

  /** Asks no suspended host, and reports how it went. */
  async #request(
    url: URL,
    { accept, asker, headers: more }: Question,
    signal: AbortSignal,
    isRepeated: boolean,
  ): Promise<Dispatcher.ResponseData> {
    const passage = this.#health.admit(url);
    const began = performance.now();
    const { onAsked } = this.#events;
    try {
      const response = await request(url, {
        dispatcher: (this.#dispatcher ??= makeDispatcher(
          this.#settings,
          this.#limits,
        )),
        signal,
        headers: {
          accept,
          "accept-encoding": "identity",
          "user-agent": "provender",
          ...more,
          ...this.#credentials(url),
        },
      });
      const { statusCode: status, headers } = response;
      const failure =
        status < 400 ? undefined : describeStatus(url, status, headers);
      onAsked?.(originResult(failure), performance.now() - began);
      const isWell = status < 500 && status !== 429;
      passage.settle(isWell ? undefined : failure, isRepeated);
      return response;
    } catch (error) {
      const failure = describeFailure(url, error, "request");
      if (asker.aborted) passage.abandon();
      else {
        onAsked?.(originResult(failure), performance.now() - began);
        passage.settle(failure, isRepeated);
      }
      throw failure;
    }
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

function redirectTarget(
  from: URL,
  location: string | string[] | undefined,
): URL {
  // Bytes beyond ASCII, which arrive as Latin-1, mean themselves whatever their encoding.
  const escaped = single(location)?.replace(
    /[\x80-\xff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const target = escaped === undefined ? null : URL.parse(escaped, from.href);
  if (target === null)
    throw unusable(from, "a redirect without a usable Location");
  return target;
}

/** Connections to one host: more than all downloads of an origin, and few enough for its good will and our descriptors. */
const mostConnections = 48;

/**
 * Connects to names that lead to public addresses alone, but where the operator allowed others. A proxy resolves names
 * itself, so there only the URL is checked.
 */
function makeDispatcher(
  settings: OriginSettings,
  limits: OriginLimits,
): Dispatcher {
  const secureContext = makeTrust(settings.ca);
  const connection = { secureContext, timeout: limits.connect, allowH2: false };
  const anywhere = buildConnector(connection);
  const guarded = buildConnector({ ...connection, lookup: guardedLookup });
  const options: Agent.Options = {
    headersTimeout: limits.firstByte,
    bodyTimeout: limits.idle,
    maxHeaderSize: 64 * 1024,
    allowH2: false,
    connections: mostConnections,
    connect: (target, callback) => {
      const url = new URL(`https://${target.host}`);
      (isFree(url, settings) ? anywhere : guarded)(target, callback);
    },
  };
  const { https, no = "" } = settings.proxy;
  if (https === undefined) return new Agent(options);
  return new EnvHttpProxyAgent({
    ...options,
    requestTls: connection,
    proxyTls: connection,
    httpsProxy: https.href,
    noProxy: no,
  });
}

/** Limit of `[`, `{` and `:` together; a list of 5,000 versions for 25 platforms has fewer. */
const mostMarks = 400_000;
const [bracket, brace, colon] = Buffer.from("[{:");

/** Throws origin-answer for what is no JSON in UTF-8, and for what would take far more memory and time than its size. */
export function parseJsonText(url: URL, bytes: Uint8Array): unknown {
  let count = 0;
  if (bytes.length > mostMarks)
    for (const byte of bytes)
      if (byte === bracket || byte === brace || byte === colon) count++;
  if (count > mostMarks)
    throw unusable(url, "it has too many objects, arrays and keys");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw unusable(url, "it is not JSON", { cause: error });
  }
}
