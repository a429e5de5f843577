import { getHeapStatistics } from "node:v8";
import { LRUCache } from "lru-cache";
import { failure } from "../../errors/index.ts";
import type { Kept } from "./metadata-records.ts";

export interface Remembered<V> extends Kept<V> {
  /** Time on the monotonic clock. */
  readonly checkedAt: number;
  /** While it fails, the origin is not asked before this. */
  readonly spareUntil: number;
}

/** The error itself is not kept: its stack would keep much else in memory. */
interface Absence {
  readonly subject: string;
  /** End on the monotonic clock. */
  readonly until: number;
}

/** Bytes for each kind of metadata; the kinds together take at most half of a small heap. */
const memoryBytes = Math.min(
  64 * 1024 * 1024,
  getHeapStatistics().heap_size_limit / 8,
);
const absentEntries = 10_000;

/** Recent answers of origins, within bounds: values and absences. */
export class MetadataMemory<V extends object> {
  readonly #weigh: (value: V) => number;
  readonly #values = new LRUCache<string, Remembered<V>>({
    maxSize: memoryBytes,
  });
  readonly #had = new WeakSet<V>();
  // Unlike `max`, this takes memory for what is remembered alone.
  readonly #absent = new LRUCache<string, Absence>({
    maxSize: absentEntries,
    sizeCalculation: () => 1,
  });

  constructor(weigh: (value: V) => number) {
    this.#weigh = weigh;
  }

  get(key: string): Remembered<V> | undefined {
    return this.#values.get(key);
  }

  set(key: string, remembered: Remembered<V>): Remembered<V> {
    const size = Math.max(1, this.#weigh(remembered.value));
    this.#values.set(key, remembered, { size });
    this.#had.add(remembered.value);
    return remembered;
  }

  /** True for a value that is or was in memory. */
  had(value: V): boolean {
    return this.#had.has(value);
  }

  noteAbsent(key: string, absence: Absence): void {
    this.#absent.set(key, absence);
  }

  forgetAbsence(key: string): void {
    this.#absent.delete(key);
  }

  isAbsent(key: string, now: number): boolean {
    return now < (this.#absent.get(key)?.until ?? -Infinity);
  }

  /** Throws not-found for as long as an absence lasts. */
  expectPresent(key: string, now: number): void {
    const absent = this.#absent.get(key);
    if (absent !== undefined && now < absent.until)
      throw failure("not-found", absent.subject);
  }
}
