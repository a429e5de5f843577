// Bounds of concurrency, in the order in which a request passes them. The owner
// of a place waits only for later bounds, or for a run that needs nothing but
// the disk and threads:
// 1. coalescing: all requests for one thing share one run (here, and by digest
//    in mirror/archives/archives.ts); at most 4,096 wait or read;
// 2. the places of an origin (mirror/archives/places.ts):
//    `limits.fillsPerOrigin`;
// 3. fills: 64 downloads in all;
// 4. waiters: each reader goes at its own pace, and the download waits for
//    none of them (mirror/archives/download.ts);
// 5. the disk: hashing of stored files, and writes (store/blobs/verified-blobs.ts,
//    store/durable-file.ts), transactions one after the other
//    (store/database/transactions.ts);
// 6. threads: signatures, packages and modules, each kind with a pool and a
//    queue of its own, which wait for nothing.

/** Shares one run between concurrent requests for the same key. */
export class SingleFlight<K, V> {
  readonly #running = new Map<K, Promise<V>>();

  /** The run under way; undefined while nothing runs. */
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
}
