import pLimit, { type LimitFunction } from "p-limit";

/** Limits tasks in all and for each key, so that slow tasks of one key leave places to others. */
export class KeyedLimit {
  readonly #all: LimitFunction;
  readonly #most: number;
  readonly #own = new Map<string, LimitFunction>();

  constructor(all: number, ofOneKey: number) {
    this.#all = pLimit(all);
    this.#most = ofOneKey;
  }

  /** Tasks that wait for their turn. */
  get pendingCount(): number {
    return [...this.#own.values()].reduce(
      (sum, { pendingCount }) => sum + pendingCount,
      this.#all.pendingCount,
    );
  }

  /** Runs the task when it is its turn among those of its key, and then among all. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const own = this.#own.get(key) ?? pLimit(this.#most);
    this.#own.set(key, own);
    try {
      return await own(() => this.#all(task));
    } finally {
      if (own.activeCount + own.pendingCount === 0) this.#own.delete(key);
    }
  }

  /** Drops the queue; its tasks never run, and their promises never settle. */
  clearQueue(): void {
    this.#all.clearQueue();
    for (const own of this.#own.values()) own.clearQueue();
  }
}
