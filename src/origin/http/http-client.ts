import type { IncomingHttpHeaders } from "node:http";
import { receiveArchive } from "./archive-body.ts";
import {
  announcedSize,
  checkJsonType,
  contentCodings,
  encoded,
  mediaType,
  peek,
  readWhole,
  refusePage,
  tooLarge,
  type Answer,
} from "./http-answer.ts";
import { parseJsonText } from "./json-text.ts";
import { OriginHealth } from "../health/origin-health.ts";
import {
  makeQuestion,
  OriginRequests,
  type OriginEvents,
  type Question,
} from "./origin-requests.ts";
import type { OriginLimits, OriginSettings } from "../guard/origin-settings.ts";
import { withRetries } from "./retries.ts";

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
