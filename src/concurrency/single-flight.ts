/** One run for all who ask for the same thing while it lasts. */
export class SingleFlight<K, V> {
  readonly #running = new Map<K, Promise<V>>();

  /** Keys under way. */
  get size(): number {
    return this.#running.size;
  }

  has(key: K): boolean {
    return this.#running.has(key);
  }

  /** What is under way; undefined when nothing is. */
  join(key: K): Promise<V> | undefined {
    return this.#running.get(key);
  }

  /** Joins what is under way, or starts it. */
  run(key: K, start: () => Promise<V>): Promise<V> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const started = start().finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }

  /** Resolves when everything that is under way has ended, well or not. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }
}
