import type { IncomingHttpHeaders } from "node:http";
import { arrivals, type Arrivals } from "./barrier.ts";

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
  /** Path as sent, with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** `complete`: the answer was sent to its end; `cut`: by either side. */
  readonly ended: Promise<"complete" | "cut">;
}

export class RequestLog implements Iterable<LoggedRequest> {
  #requests: LoggedRequest[] = [];
  #arrivals = new Map<RequestKind, Arrivals>();

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

  /** Resolves when `count` requests of a kind have come since `clear`. */
  reach(kind: RequestKind, count = 1): Promise<void> {
    return this.#arrivalsOf(kind).reach(count);
  }

  clear(): void {
    this.#requests = [];
    this.#arrivals.clear();
  }

  /** Notes a request; `end` tells how its answer ended. */
  open(facts: Pick<LoggedRequest, "kind" | "path" | "headers">) {
    const { promise, resolve } = Promise.withResolvers<"complete" | "cut">();
    const logged = { ...facts, ended: promise };
    this.#requests.push(logged);
    this.#arrivalsOf(facts.kind).arrive();
    return { logged, end: resolve };
  }

  #arrivalsOf(kind: RequestKind): Arrivals {
    const known = this.#arrivals.get(kind) ?? arrivals();
    this.#arrivals.set(kind, known);
    return known;
  }
}
