import { setTimeout as pause } from "node:timers/promises";
import { isBucketFailure } from "../../errors/index.ts";
import { leaseObject } from "../layout.ts";
import { bodyOf, type BucketBody } from "./bucket-connection.ts";
import type { Bucket } from "./bucket.ts";

/** Milliseconds between two signs of life of a holder. */
const beat = 4_000;
/** Milliseconds without one, on the waiter's own clock, after which a holder counts as dead. */
const dead = 15_000;
/** Milliseconds between two looks of a waiter. */
const interval = 300;
/** Milliseconds that anybody waits, whatever the holder does. */
const longest = 60_000;

/**
 * Which replica fetches what, so that not all of them ask an origin for the same.
 * It is economy alone: whoever does not get a lease may go on without, and a
 * bucket that fails gives it to everybody.
 */
export class Leases {
  readonly #bucket: Bucket;
  readonly #held = new Map<string, NodeJS.Timeout>();

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
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
    const end = performance.now() + longest;
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
    const timer = this.#held.get(key);
    if (timer === undefined) return;
    clearInterval(timer);
    this.#held.delete(key);
    await this.#bucket.delete(key).catch(() => undefined);
  }

  /** What is held is left to the patience of others. */
  close(): void {
    for (const timer of this.#held.values()) clearInterval(timer);
  }

  /** True when it is done; false when the lease is free, by release or by death. */
  async #await(
    key: string,
    isDone: () => Promise<boolean>,
    signal: AbortSignal,
    end: number,
  ): Promise<boolean> {
    let seen = "";
    let since = performance.now();
    while (performance.now() < end) {
      await pause(interval, undefined, { signal }).catch(() =>
        signal.throwIfAborted(),
      );
      if (await isDone()) return true;
      const etag = (await this.#bucket.head(key))?.etag;
      if (etag === undefined) return false;
      if (etag !== seen) since = performance.now();
      seen = etag;
      if (performance.now() - since < dead) continue;
      await this.#bucket.delete(key);
      return false;
    }
    return false;
  }

  #hold(key: string): void {
    const renew = () =>
      void this.#bucket.put(key, sign()).catch(() => undefined);
    this.#held.set(key, setInterval(renew, beat).unref());
  }
}

/** Another one each time. */
function sign(): BucketBody {
  return bodyOf(crypto.randomUUID());
}
