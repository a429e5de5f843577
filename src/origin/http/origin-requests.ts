import { request, type Dispatcher } from "undici";
import { checkUrl, isConfigured } from "../guard/address-guard.ts";
import { makeDispatchers, type Dispatchers } from "./dispatchers.ts";
import { acceptAnswer, discard, single, type Answer } from "./http-answer.ts";
import {
  describeFailure,
  describeStatus,
  originResult,
  unusable,
} from "./http-failure.ts";
import type { OriginHealth } from "../health/origin-health.ts";
import type { OriginResult } from "../../telemetry/series/labels.ts";
import type { OriginLimits, OriginSettings } from "../guard/origin-settings.ts";

/** Events for observers; never waited for. */
export interface OriginEvents {
  /** A request to a host was answered, or failed, after so many milliseconds. */
  readonly onAsked: (result: OriginResult, milliseconds: number) => void;
  readonly onReceived: (bytes: number) => void;
}

/** Request as sent to every host on the way to an answer. */
export interface Question {
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

export function makeQuestion(
  accept: string,
  subject: string | undefined,
  asker: AbortSignal,
): Question {
  const counted = new Set<string>();
  return { accept, statuses: [200], headers: {}, subject, asker, counted };
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Requests of one origin, to it and to where its answers lead: guarded, with its credentials at home only, and to no suspended host. */
export class OriginRequests {
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
