import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { formatRelease } from "../releases/release.ts";
import type { ReleaseRequest } from "../trust/request.ts";
import type { Standings } from "../standings/standings.ts";

/** Looks at once, waiting ones, and those that are remembered. */
const atOnce = 4;
const mostWaiting = 256;
const mostRemembered = 10_000;

/**
 * Looks again at refused releases, so that a repaired one is listed again
 * although no client requests it by name.
 */
export class BackgroundLooks {
  readonly #standings: Standings;
  readonly #turn = pLimit(atOnce);
  /** Milliseconds of the monotonic clock, by release. */
  // Unlike `max`, this takes memory for what is remembered alone.
  readonly #looked = new LRUCache<string, number>({
    maxSize: mostRemembered,
    sizeCalculation: () => 1,
  });

  constructor(standings: Standings) {
    this.#standings = standings;
  }

  /** Returns at once; `onServed` is called when clients may have it again. */
  look(request: ReleaseRequest, onServed: () => void): void {
    const name = formatRelease(request.address);
    const now = performance.now();
    const last = this.#looked.get(name) ?? -Infinity;
    if (now - last < lookAgainAfter || this.#turn.pendingCount >= mostWaiting)
      return;
    this.#looked.set(name, now);
    void this.#turn(() => this.#standings.lookUp(request))
      .then(onServed)
      .catch(() => undefined);
  }
}

/**
 * Milliseconds between two looks at one release; the cache asks the origin less
 * often.
 */
const lookAgainAfter = 1_000;
