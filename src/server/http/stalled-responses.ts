import type { ServerResponse } from "node:http";
import { cut } from "./cut-answer.ts";
import type { ClientPace } from "./paced-write.ts";

interface Mark {
  /** On the monotonic clock. */
  readonly at: number;
  /** Bytes of the connection that the client took. */
  readonly taken: number;
}

const longestInterval = 5_000;

/**
 * Cuts clients that do not take answers that are complete on this side: a body
 * that was written at once waits in memory for as long as its client likes, and
 * so do the answers behind it on the connection. A body that is still being
 * written is paced by its writer.
 */
export class StalledResponses {
  readonly #pace: ClientPace;
  readonly #open = new Set<ServerResponse>();
  readonly #marks = new WeakMap<ServerResponse, Mark>();
  readonly #timer: NodeJS.Timeout;

  constructor(pace: ClientPace) {
    this.#pace = pace;
    const interval = Math.min(pace.rateWindow / 4, longestInterval);
    this.#timer = setInterval(() => this.#sweep(), interval).unref();
  }

  watch(answer: ServerResponse): void {
    this.#open.add(answer);
  }

  forget(answer: ServerResponse): void {
    this.#open.delete(answer);
  }

  /** Whoever waits for the rest of an answer is told that there is none. */
  cutAll(): void {
    for (const answer of this.#open) cut(answer);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    const at = performance.now();
    for (const answer of this.#open) {
      const { socket, writableEnded } = answer;
      if (!writableEnded || socket === null) continue;
      const taken = socket.bytesWritten - socket.writableLength;
      this.#judge(answer, { at, taken });
    }
  }

  #judge(answer: ServerResponse, now: Mark): void {
    const before = this.#marks.get(answer);
    const waited = before === undefined ? 0 : now.at - before.at;
    if (before !== undefined && waited < this.#pace.rateWindow) return;
    this.#marks.set(answer, now);
    if (before === undefined) return;
    const least = Math.max(1, (this.#pace.rate * waited) / 1000);
    if (now.taken - before.taken < least) cut(answer);
  }
}
