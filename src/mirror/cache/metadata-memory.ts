import { getHeapStatistics } from "node:v8";
import { LRUCache } from "lru-cache";
import { NotFound } from "../../errors/index.ts";
import type { Kept } from "./metadata-records.ts";

export interface Remembered<V> extends Kept<V> {
  /** On the monotonic clock. */
  readonly checkedAt: number;
  /** While it fails, the origin is not asked before this. */
  readonly spareUntil: number;
  /** Of the record, where only an import brings anything new. */
  readonly stamp?: string | undefined;
}

/** Not the error itself, which holds everything that its stack has seen. */
interface Absence {
  readonly subject: string;
  /** On the monotonic clock. */
  readonly until: number;
}

/** Of each kind of metadata; all kinds together leave half of a small heap. */
const memoryBytes = Math.min(
  64 * 1024 * 1024,
  getHeapStatistics().heap_size_limit / 8,
);
const absentEntries = 10_000;

/** What was said of late, within bounds: values, and that there is none. */
export class MetadataMemory<V extends object> {
  readonly #weigh: (value: V) => number;
  readonly #values = new LRUCache<string, Remembered<V>>({
    maxSize: memoryBytes,
  });
  readonly #absent = new LRUCache<string, Absence>({ max: absentEntries });

  constructor(weigh: (value: V) => number) {
    this.#weigh = weigh;
  }

  get(key: string): Remembered<V> | undefined {
    return this.#values.get(key);
  }

  set(key: string, remembered: Remembered<V>): Remembered<V> {
    const size = Math.max(1, this.#weigh(remembered.value));
    this.#values.set(key, remembered, { size });
    return remembered;
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

  /** Throws NotFound for as long as an absence lasts. */
  expectPresent(key: string, now: number): void {
    const absent = this.#absent.get(key);
    if (absent !== undefined && now < absent.until)
      throw new NotFound(absent.subject);
  }
}
