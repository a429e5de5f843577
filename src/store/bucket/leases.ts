import { setTimeout as pause } from "node:timers/promises";
import { isBucketFailure } from "../../errors/index.ts";
import { leaseObject } from "../layout.ts";
import { bodyOf, type BucketBody } from "./bucket-connection.ts";
import type { Bucket } from "./bucket.ts";

/** In milliseconds, on the waiter's own clock. */
interface Patience {
  /** Without a sign of life of the holder, which then counts as dead. */
  readonly dead: number;
  /** Whatever the holder does. */
  readonly longest: number;
}

interface Held {
  readonly ending: AbortController;
  readonly beating: Promise<void>;
}

/** Of what may take minutes. */
const long: Patience = { dead: 15_000, longest: 60_000 };
/** Signs of life in the time after which a holder counts as dead. */
const beats = 4;
/** Milliseconds between the first two looks of a waiter, and from later ones on. */
const shortest = 40;
const interval = 300;

/**
 * Which replica fetches what, so that not all of them ask an origin for the same.
 * It is economy alone: whoever does not get a lease may go on without, and a
 * bucket that fails gives it to everybody.
 */
export class Leases {
  readonly #bucket: Bucket;
  readonly #patience: Patience;
  readonly #held = new Map<string, Held>();

  constructor(bucket: Bucket, patience = long) {
    this.#bucket = bucket;
    this.#patience = patience;
  }

  /**
   * Resolves when the lease is ours or nobody shall wait for it any longer, and
   * earlier when `isDone` says that there is nothing left to do. True when others
   * had it meanwhile. Rejects with the reason of `signal`.
   */
  async take(
    name: string,
    isDone: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const key = leaseObject(name);
    const end = performance.now() + this.#patience.longest;
    let isContended = false;
    try {
      while (performance.now() < end) {
        const made = await this.#bucket.putIf(key, sign(), { kind: "absent" });
        if (made.kind !== "lost") {
          this.#hold(key);
          break;
        }
        isContended = true;
        if (await this.#await(key, isDone, signal, end)) break;
      }
    } catch (error) {
      if (!isBucketFailure(error)) throw error;
    }
    return isContended;
  }

  async release(name: string): Promise<void> {
    const key = leaseObject(name);
    const held = this.#held.get(key);
    if (held === undefined) return;
    held.ending.abort();
    this.#held.delete(key);
    // A sign of life that is still on its way would make the lease anew.
    await held.beating;
    await this.#bucket.delete(key).catch(() => undefined);
  }

  /** True when it is done; false when the lease is free, because its holder released it or is dead. */
  async #await(
    key: string,
    isDone: () => Promise<boolean>,
    signal: AbortSignal,
    end: number,
  ): Promise<boolean> {
    let seen = "";
    let since = performance.now();
    let wait = shortest;
    while (performance.now() < end) {
      await pause(wait, undefined, { signal }).catch(() =>
        signal.throwIfAborted(),
      );
      wait = Math.min(interval, wait * 2);
      if (await isDone()) return true;
      const etag = (await this.#bucket.head(key))?.etag;
      if (etag === undefined) return false;
      if (etag !== seen) since = performance.now();
      seen = etag;
      if (performance.now() - since < this.#patience.dead) continue;
      await this.#bucket.delete(key);
      return false;
    }
    return false;
  }

  #hold(key: string): void {
    const ending = new AbortController();
    const beating = this.#beat(key, ending.signal);
    this.#held.set(key, { ending, beating });
  }

  async #beat(key: string, signal: AbortSignal): Promise<void> {
    const interval = this.#patience.dead / beats;
    for (;;) {
      const options = { signal, ref: false };
      await pause(interval, undefined, options).catch(() => undefined);
      if (signal.aborted) return;
      await this.#bucket.put(key, sign()).catch(() => undefined);
    }
  }
}

/** A sign of life, which differs each time. */
function sign(): BucketBody {
  return bodyOf(crypto.randomUUID());
}
