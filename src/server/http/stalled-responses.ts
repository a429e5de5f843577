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
export class StalledResponses<S extends Sending> {
  readonly #pace: ClientPace;
  readonly #cut: (sending: S) => void;
  readonly #open = new Set<S>();
  readonly #marks = new WeakMap<S, Mark>();
  readonly #timer: NodeJS.Timeout;

  constructor(pace: ClientPace, cut: (sending: S) => void) {
    this.#pace = pace;
    this.#cut = cut;
    const interval = Math.min(pace.rateWindow / 4, longestInterval);
    this.#timer = setInterval(() => this.#sweep(), interval).unref();
  }

  watch(sending: S): void {
    this.#open.add(sending);
  }

  forget(sending: S): void {
    this.#open.delete(sending);
  }

  /** Whoever waits for the rest of an answer is told that there is none. */
  cutAll(): void {
    for (const sending of this.#open) this.#cut(sending);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    const at = performance.now();
    for (const sending of this.#open) {
      const { socket, writableEnded } = sending;
      if (!writableEnded || socket === null) this.#marks.delete(sending);
      else {
        const taken = socket.bytesWritten - socket.writableLength;
        if (this.#isStalled(sending, { at, taken })) this.#cut(sending);
      }
    }
  }

  #isStalled(sending: S, now: Mark): boolean {
    const before = this.#marks.get(sending);
    const waited = before === undefined ? 0 : now.at - before.at;
    if (before !== undefined && waited < this.#pace.rateWindow) return false;
    this.#marks.set(sending, now);
    if (before === undefined) return false;
    const least = Math.max(1, (this.#pace.rate * waited) / 1000);
    return now.taken - before.taken < least;
  }
}
