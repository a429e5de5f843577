import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pLimit, { type LimitFunction } from "p-limit";
import { TooBusy } from "../../errors/index.ts";
import type { RecordKey, StoreLayout } from "../layout.ts";
import { tryLock } from "../process-lock.ts";

/** Records of one stripe are changed one after the other. */
const stripes = 64;
/** Milliseconds between two tries, at most. */
const longestPause = 20;
/** Milliseconds after which waiting for another process is given up; it holds a lock while it writes two small files. */
const patience = 20_000;

/** Lets one change of a record go on at a time, among all processes that work on the store. */
export class ChangeLocks {
  readonly #layout: StoreLayout;
  readonly #turns = new Map<string, LimitFunction>();

  constructor(layout: StoreLayout) {
    this.#layout = layout;
  }

  /** Throws TooBusy when another process holds the record for long. */
  async hold<T>(key: RecordKey, work: () => Promise<T>): Promise<T> {
    const stripe = stripeOf(key);
    const turn = this.#turns.get(stripe) ?? pLimit(1);
    this.#turns.set(stripe, turn);
    return turn(async () => {
      const lock = await this.#wait(stripe);
      try {
        return await work();
      } finally {
        lock.release();
      }
    });
  }

  async #wait(stripe: string): Promise<{ release(): void }> {
    const path = join(this.#layout.locks, `records-${stripe}.lock`);
    const end = performance.now() + patience;
    for (;;) {
      const lock = tryLock(path);
      if (lock !== undefined) return lock;
      if (performance.now() > end)
        throw new TooBusy("processes that change one record");
      // At random, so that processes that wait do not meet again.
      await pause(1 + Math.random() * longestPause);
    }
  }
}

function stripeOf(key: RecordKey): string {
  const digest = createHash("sha256").update(key.join("/")).digest();
  return `${digest.readUInt16BE() % stripes}`.padStart(2, "0");
}
