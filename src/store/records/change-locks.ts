import { createHash } from "node:crypto";
import { join } from "node:path";
import pLimit, { type LimitFunction } from "p-limit";
import type { RecordKey, StoreLayout } from "../layout.ts";
import { tryLock, waitForLock } from "../process-lock.ts";

/** Records of one stripe are changed one after the other. Each takes a descriptor, and few files are written at once. */
const stripes = 16;

/** Milliseconds that a change waits for its turn and for other processes: a client waits 10 s in all. */
const patience = 6_000;

/** Lets one change of a record go on at a time, among all processes that work on the store. */
export class ChangeLocks {
  readonly #layout: StoreLayout;
  readonly #turns = new Map<string, LimitFunction>();

  constructor(layout: StoreLayout) {
    this.#layout = layout;
  }

  /** Throws too-busy when another process holds the record for long. */
  async hold<T>(key: RecordKey, work: () => Promise<T>): Promise<T> {
    const stripe = stripeOf(key);
    const turn = this.#turns.get(stripe) ?? pLimit(1);
    this.#turns.set(stripe, turn);
    const end = performance.now() + patience;
    return turn(async () => {
      const lock = await this.#wait(stripe, end);
      try {
        return await work();
      } finally {
        lock.release();
      }
    });
  }

  #wait(stripe: string, end: number): Promise<{ release(): void }> {
    const path = join(this.#layout.locks, `records-${stripe}.lock`);
    const subject = "processes that change one record";
    return waitForLock(() => tryLock(path), subject, end);
  }
}

function stripeOf(key: RecordKey): string {
  const digest = createHash("sha256").update(key.join("/")).digest();
  return `${digest.readUInt16BE() % stripes}`.padStart(2, "0");
}
