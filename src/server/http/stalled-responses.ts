import type { Socket } from "node:net";
import type { ClientPace } from "./paced-write.ts";

interface Mark {
  /** On the monotonic clock. */
  readonly at: number;
  /** Bytes of the connection that the client took. */
  readonly taken: number;
}

/** An answer, or a connection on which one follows the other. */
interface Sending {
  /** Null when it is gone. */
  readonly socket: Pick<Socket, "bytesWritten" | "writableLength"> | null;
  /** Everything was written, and waits for the client to take it. */
  readonly writableEnded: boolean;
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
  readonly #open = new Map<Sending, () => void>();
  readonly #marks = new WeakMap<Sending, Mark>();
  readonly #timer: NodeJS.Timeout;

  constructor(pace: ClientPace) {
    this.#pace = pace;
    const interval = Math.min(pace.rateWindow / 4, longestInterval);
    this.#timer = setInterval(() => this.#sweep(), interval).unref();
  }

  watch(answer: Sending, cut: () => void): void {
    this.#open.set(answer, cut);
  }

  forget(answer: Sending): void {
    this.#open.delete(answer);
  }

  /** Whoever waits for the rest of an answer is told that there is none. */
  cutAll(): void {
    for (const cut of this.#open.values()) cut();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    const at = performance.now();
    for (const [answer, cut] of this.#open) {
      const { socket, writableEnded } = answer;
      if (!writableEnded || socket === null) this.#marks.delete(answer);
      else {
        const taken = socket.bytesWritten - socket.writableLength;
        if (this.#isStalled(answer, { at, taken })) cut();
      }
    }
  }

  #isStalled(answer: Sending, now: Mark): boolean {
    const before = this.#marks.get(answer);
    const waited = before === undefined ? 0 : now.at - before.at;
    if (before !== undefined && waited < this.#pace.rateWindow) return false;
    this.#marks.set(answer, now);
    if (before === undefined) return false;
    const least = Math.max(1, (this.#pace.rate * waited) / 1000);
    return now.taken - before.taken < least;
  }
}
