import type { ServerResponse } from "node:http";
import type { ClientPace } from "./paced-write.ts";

interface Mark {
  /** Time on the monotonic clock. */
  readonly at: number;
  /** Bytes of the connection that the client took. */
  readonly taken: number;
}

const longestInterval = 5_000;

/**
 * Cuts clients that do not take answers which are complete on this side. Such a
 * body, and the answers behind it on the connection, would wait in memory as
 * long as the client likes. A body that is still being written is paced by its
 * writer.
 */
export class StalledResponses {
  readonly #pace: ClientPace;
  readonly #cut: (response: ServerResponse) => void;
  readonly #open = new Set<ServerResponse>();
  readonly #marks = new WeakMap<ServerResponse, Mark>();
  readonly #timer: NodeJS.Timeout;

  constructor(pace: ClientPace, cut: (response: ServerResponse) => void) {
    this.#pace = pace;
    this.#cut = cut;
    const interval = Math.min(pace.rateWindow / 4, longestInterval);
    this.#timer = setInterval(() => this.#sweep(), interval).unref();
  }

  watch(response: ServerResponse): void {
    this.#open.add(response);
  }

  forget(response: ServerResponse): void {
    this.#open.delete(response);
  }

  /** Ends answers whose clients still wait for the rest. */
  cutAll(): void {
    for (const response of this.#open) this.#cut(response);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    const at = performance.now();
    for (const response of this.#open) {
      const { socket, writableEnded } = response;
      if (!writableEnded || socket === null) this.#marks.delete(response);
      else {
        const taken = socket.bytesWritten - socket.writableLength;
        if (this.#isStalled(response, { at, taken })) this.#cut(response);
      }
    }
  }

  #isStalled(response: ServerResponse, now: Mark): boolean {
    const before = this.#marks.get(response);
    const waited = before === undefined ? 0 : now.at - before.at;
    if (before !== undefined && waited < this.#pace.rateWindow) return false;
    this.#marks.set(response, now);
    if (before === undefined) return false;
    const least = Math.max(1, (this.#pace.rate * waited) / 1000);
    return now.taken - before.taken < least;
  }
}
