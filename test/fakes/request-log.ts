import type { IncomingHttpHeaders } from "node:http";
import { arrivals, type Arrivals } from "./arrivals.ts";

/** Subject of a request, in the words of the provider registry protocol. */
export type RequestKind =
  | "discovery"
  | "versions"
  | "package"
  | "checksums"
  | "signature"
  | "archive"
  | "other";

export interface LoggedRequest {
  readonly kind: RequestKind;
  readonly method: string;
  /** Path as sent, with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
  /** Bytes of the body handed to the connection so far. */
  readonly bodyBytes: number;
  /** `complete`: the answer was sent to its end; `cut`: by either side. */
  readonly ended: Promise<"complete" | "cut">;
}

/** The server's side of a logged request. */
export interface OpenRequest {
  readonly logged: LoggedRequest;
  readonly sent: (bytes: number) => void;
  readonly end: (how: "complete" | "cut") => void;
}

export class RequestLog implements Iterable<LoggedRequest> {
  #requests: LoggedRequest[] = [];
  #arrivals = new Map<RequestKind, Arrivals>();
  #open = new Map<RequestKind, { now: number; peak: number }>();

  [Symbol.iterator](): Iterator<LoggedRequest> {
    return this.#requests.values();
  }

  /** In the order of arrival. */
  list(kind?: RequestKind): readonly LoggedRequest[] {
    return this.#requests.filter(
      (request) => kind === undefined || request.kind === kind,
    );
  }

  count(kind?: RequestKind): number {
    return this.list(kind).length;
  }

  /** The most requests of a kind that were unanswered at once. */
  peak(kind: RequestKind): number {
    return this.#openOf(kind).peak;
  }

  /** Resolves when `count` requests of a kind have come since `clear`. */
  reach(kind: RequestKind, count = 1): Promise<void> {
    return this.#arrivalsOf(kind).reach(count);
  }

  clear(): void {
    this.#requests = [];
    this.#arrivals.clear();
    for (const open of this.#open.values()) open.peak = open.now;
  }

  open(
    facts: Pick<LoggedRequest, "kind" | "method" | "path" | "headers">,
  ): OpenRequest {
    const { promise, resolve } = Promise.withResolvers<"complete" | "cut">();
    const logged = {
      ...facts,
      at: performance.now(),
      bodyBytes: 0,
      ended: promise,
    };
    const open = this.#openOf(facts.kind);
    open.now += 1;
    open.peak = Math.max(open.peak, open.now);
    void promise.then(() => (open.now -= 1));
    this.#requests.push(logged);
    this.#arrivalsOf(facts.kind).arrive();
    return {
      logged,
      sent: (bytes) => (logged.bodyBytes += bytes),
      end: resolve,
    };
  }

  #arrivalsOf(kind: RequestKind): Arrivals {
    const known = this.#arrivals.get(kind) ?? arrivals();
    this.#arrivals.set(kind, known);
    return known;
  }

  #openOf(kind: RequestKind): { now: number; peak: number } {
    const known = this.#open.get(kind) ?? { now: 0, peak: 0 };
    this.#open.set(kind, known);
    return known;
  }
}
