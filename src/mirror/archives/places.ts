import { inTime, untilAborted } from "../../concurrency/in-time.ts";
import { KeyedLimit } from "../../concurrency/keyed-limit.ts";
import { failure } from "../../errors/index.ts";

export interface PlaceLimits {
  readonly fills: number;
  readonly fillsPerOrigin: number;
}

/** Downloads in all, and clients that wait for them. */
export const downloadLimits = { fills: 64, waiters: 4_096 };

/** Milliseconds that a download waits for its place at most; then it is refused. */
export const longestWait = 120_000;

interface PlacedDownload {
  /** Hostname of the origin. */
  readonly origin: string;
  /** False while no client would miss it. */
  readonly isRead: boolean;
  /** Called when another one waits for its place. */
  cancel(reason: unknown): void;
}

/**
 * Places for downloads: a total, and a number for each origin, so that a slow
 * origin holds up no other. First come, first served; only a download that no
 * client waits for any longer makes way for one that waits.
 */
export class DownloadPlaces {
  readonly #limits: PlaceLimits;
  readonly #places: KeyedLimit;
  readonly #waiting = new Set<PlacedDownload>();
  readonly #running = new Set<PlacedDownload>();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
    this.#places = new KeyedLimit(limits.fills, limits.fillsPerOrigin);
  }

  get load(): { readonly fills: number; readonly waiting: number } {
    return { fills: this.#running.size, waiting: this.#waiting.size };
  }

  /** Runs the task when it is its turn. */
  async run<T>(
    download: PlacedDownload,
    signal: AbortSignal,
    task: () => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const turn = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    void this.#places.run(download.origin, () => {
      turn.resolve();
      return done.promise;
    });
    this.#waiting.add(download);
    this.makeWay();
    try {
      const waited = untilAborted(turn.promise, signal);
      await inTime(waited, longestWait, () => {
        throw refusal();
      });
      this.#waiting.delete(download);
      this.#running.add(download);
      this.makeWay();
      return await task();
    } finally {
      this.#waiting.delete(download);
      this.#running.delete(download);
      done.resolve();
    }
  }

  /** Ends what no client waits for, where another download waits for the place; call it when a client has left. */
  makeWay(): void {
    for (const one of this.#running) {
      if (one.isRead || !this.#isInTheWay(one)) continue;
      this.#running.delete(one);
      one.cancel(refusal());
    }
  }

  #isInTheWay({ origin }: PlacedDownload): boolean {
    const { fills, fillsPerOrigin } = this.#limits;
    const ofOrigin = [...this.#running].filter((one) => one.origin === origin);
    if (this.#running.size >= fills) return this.#waiting.size > 0;
    if (ofOrigin.length < fillsPerOrigin) return false;
    return [...this.#waiting].some((one) => one.origin === origin);
  }
}

function refusal() {
  return failure("too-busy", "downloads from this origin");
}
