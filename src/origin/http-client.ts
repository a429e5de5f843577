import type { IncomingHttpHeaders } from "node:http";
import { request, type Dispatcher } from "undici";
import { OriginAddressRefused, OriginAnswerUnusable } from "../errors.ts";
import {
  checkUrl,
  isConfigured,
  type AddressAllowance,
} from "./address-guard.ts";
import { limitBody } from "./archive-body.ts";
import { makeDispatchers, type Dispatchers } from "./dispatchers.ts";
import {
  acceptAnswer,
  announcedSize,
  checkJsonType,
  discard,
  readWhole,
  refusePage,
  single,
  tooLarge,
  unusable,
  type Answer,
} from "./http-answer.ts";
import { describeFailure, describeStatus } from "./http-failure.ts";
import { OriginHealth } from "./origin-health.ts";
import type { OriginLimits, OriginSettings } from "./origin-settings.ts";
import { formatPublicUrl } from "./public-url.ts";
import { withRetries } from "./retries.ts";

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

/** A small answer that may have no body, with its headers. */
export interface OriginAnswer extends OriginDocument {
  readonly headers: IncomingHttpHeaders;
}

/** Whose document a request is for: `subject` names the provider, so that one that fails takes no other along; undefined for all. */
type Subject = string | undefined;

/** What is told to whoever watches; never waited for. */
export interface HttpClientEvents {
  readonly onRetry: () => void;
}

interface Question {
  readonly accept: string;
  /** Of good answers. */
  readonly statuses: readonly number[];
  readonly subject: Subject;
  /** The asker's own: when it aborts, that says nothing about the host. */
  readonly asker: AbortSignal;
  /** Hosts against which this counted, however often it is tried. */
  readonly counted: Set<string>;
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const unwatched = {
  onSuspended: () => undefined,
  onResumed: () => undefined,
  onRetry: () => undefined,
};

function makeQuestion(
  accept: string,
  subject: Subject,
  asker: AbortSignal,
): Question {
  return { accept, statuses: [200], subject, asker, counted: new Set() };
}

/** GET requests to one origin and to where its answers lead, each with a size limit, a deadline and the address guard. */
export class HttpClient {
  readonly #settings: OriginSettings;
  readonly #limits: OriginLimits;
  readonly #allowance: AddressAllowance;
  readonly #health: OriginHealth;
  readonly #events: HttpClientEvents;
  #made: Dispatchers | undefined;

  constructor(
    settings: OriginSettings,
    limits: OriginLimits,
    health: OriginHealth = new OriginHealth(() => performance.now(), unwatched),
    events: HttpClientEvents = unwatched,
  ) {
    this.#settings = settings;
    this.#limits = limits;
    this.#health = health;
    this.#events = events;
    this.#allowance = {
      configured: settings.configuredHosts,
      allowPrivateAddresses: settings.allowPrivateAddresses,
    };
  }

  /** Any media type but a page for people; throws OriginAnswerUnusable above `maxBytes`. */
  async fetchDocument(
    url: URL,
    maxBytes: number,
    asker: AbortSignal,
    subject?: string,
  ): Promise<OriginDocument> {
    const question = makeQuestion("*/*", subject, asker);
    return this.#try(url, subject, this.#deadline(asker), async (signal) => {
      const answer = await this.#get(url, signal, question);
      refusePage(answer);
      return { url: answer.url, bytes: await readWhole(answer, maxBytes) };
    });
  }

  /** `application/json` with or without parameters, parsed; the value is not yet checked for shape. */
  async fetchJson(
    url: URL,
    asker: AbortSignal,
    maxBytes: number = this.#limits.originJson,
    subject?: string,
  ): Promise<{ readonly url: URL; readonly value: unknown }> {
    const question = makeQuestion("application/json", subject, asker);
    const read = await this.#try(
      url,
      subject,
      this.#deadline(asker),
      async (signal) => {
        const answer = await this.#get(url, signal, question);
        checkJsonType(answer);
        return { url: answer.url, bytes: await readWhole(answer, maxBytes) };
      },
    );
    return { url: read.url, value: parseJson(read.url, read.bytes) };
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
    return this.#try(url, subject, this.#deadline(asker), async (signal) => {
      const answer = await this.#get(url, signal, question);
      const bytes = await readWhole(answer, maxBytes);
      return { url: answer.url, headers: answer.headers, bytes };
    });
  }

  /** The deadline of documents does not apply; the archive's own size, idle and rate limits do. */
  async openArchive(
    url: URL,
    asker: AbortSignal,
    subject?: string,
  ): Promise<OriginArchive> {
    const question = makeQuestion("*/*", subject, asker);
    return this.#try(url, subject, asker, async (signal) => {
      const answer = await this.#get(url, signal, question);
      refusePage(answer);
      const size = announcedSize(answer);
      if (size !== undefined && size > this.#limits.archive)
        throw tooLarge(answer, this.#limits.archive);
      const body = limitBody(answer, this.#limits);
      return { url: answer.url, size, body };
    });
  }

  /** True while the host is spared because it fails or asked for it. */
  isSuspended(url: URL): boolean {
    return this.#health.isSuspended(url);
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

  #try<T>(
    url: URL,
    subject: Subject,
    signal: AbortSignal,
    attempt: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const isSuspended = () => this.#health.isSuspended(url, subject);
    const { onRetry } = this.#events;
    const rules = { isSuspended, onRetry };
    return withRetries(() => attempt(signal), signal, rules);
  }

  /** Follows redirects by hand, so that every hop is checked and credentials stay at home. */
  async #get(
    start: URL,
    signal: AbortSignal,
    question: Question,
  ): Promise<Answer> {
    let url = start;
    for (let hop = 0; hop <= this.#limits.redirects; hop++) {
      checkUrl(url, this.#allowance);
      const response = await this.#request(url, signal, question);
      if (!redirects.has(response.statusCode))
        return acceptAnswer(url, response, question.statuses);
      discard(response.body);
      url = redirectTarget(url, response.headers.location);
    }
    throw new OriginAddressRefused(
      formatPublicUrl(start),
      `it redirects more than ${this.#limits.redirects} times`,
    );
  }

  /** Asks nobody who is suspended, and tells how it went. */
  async #request(
    url: URL,
    signal: AbortSignal,
    question: Question,
  ): Promise<Dispatcher.ResponseData> {
    const { subject, asker, counted } = question;
    const passage = this.#health.admit(url, subject);
    const settle = (failure: unknown) => {
      passage.settle(failure, counted.has(url.host));
      counted.add(url.host);
    };
    try {
      const response = await this.#send(url, signal, question);
      const { statusCode, headers } = response;
      if (statusCode < 500 && statusCode !== 429) passage.settle(undefined);
      else settle(describeStatus(url, statusCode, headers));
      return response;
    } catch (error) {
      const failure = describeFailure(url, error, "request");
      if (asker.aborted) passage.abandon();
      else settle(failure);
      throw failure;
    }
  }

  #send(
    url: URL,
    signal: AbortSignal,
    { accept }: Question,
  ): Promise<Dispatcher.ResponseData> {
    const configured = isConfigured(url, this.#allowance);
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
        ...this.#credentials(url),
      },
    });
  }

  #credentials(url: URL): Record<string, string> {
    const { token, url: home } = this.#settings;
    return token !== undefined && url.origin === home.origin
      ? { authorization: `Bearer ${token}` }
      : {};
  }
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

function parseJson(url: URL, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new OriginAnswerUnusable(formatPublicUrl(url), "it is not JSON", {
      cause: error,
    });
  }
}
