import { failure, isFailure, isOriginFailure } from "../../errors/index.ts";
import { ageOf, type Clock, type Moment, readMoment } from "./clock.ts";
import { getHeapStatistics } from "node:v8";
import type { RecordKey } from "../../store/records/record-tables.ts";
import { LRUCache } from "lru-cache";

/** Bytes for each kind of metadata; the kinds together take at most half of a small heap. */
const memoryBytes = Math.min(
  64 * 1024 * 1024,
  getHeapStatistics().heap_size_limit / 8,
);
const absentEntries = 10_000;

/** Asks the origin; gets what is known already, and gives that very value back where nothing is to be written. */
type FetchValue<V> = (known: V | undefined, signal: AbortSignal) => Promise<V>;

/** Milliseconds each, but for `waiters`. */
interface MetadataLimits {
  readonly versions: number;
  readonly staleFor: number;
  readonly notFound: number;
  readonly answer: number;
  readonly waiters: number;
}

/** Milliseconds since the origin said so for which an answer is good enough for one asker. */
export interface Within {
  readonly maxAge?: number | undefined;
  /** For what the origin said not to exist. */
  readonly absentFor?: number | undefined;
  /** What is known is good enough although it is out of date; the origin is asked again for whoever asks next. */
  readonly mayBeOld?: boolean | undefined;
}

/** Attempts to write while others write the same record. */
const mostTries = 8;

/** Milliseconds for which a failing origin is not asked again for one key; less where lists are fresh for less. */
const pauseAfterFailure = 5_000;

/**
 * Cache of metadata: memory over records over the origin. Concurrent requests
 * share one request to the origin. While it fails, stale answers are served.
 */
export class MetadataCache<K extends object, V extends Revised> {
  readonly #records: MetadataRecords<K, V>;
  readonly #limits: MetadataLimits;
  readonly #clock: Clock;
  readonly #offline: boolean;
  readonly #onUnwritten: (key: string, error: unknown) => void;
  readonly #onStale: (key: string, age: number, error: unknown) => void;
  readonly #onChange: (record: string) => void;
  readonly #start: Moment;
  /** Keys of subjects, which are the same objects for each request of the same name. */
  readonly #keys = new WeakMap<K, string>();
  readonly #values = new LRUCache<string, Remembered<V>>({
    maxSize: memoryBytes,
  });
  // Unlike `max`, this takes memory for what is remembered alone.
  readonly #absent = new LRUCache<string, Absence>({
    maxSize: absentEntries,
    sizeCalculation: () => 1,
  });
  /** At most one a key. */
  readonly #asking = new Map<string, Asking<V>>();
  #waiting = 0;
  /** Counts what other processes changed, so that what was read before is not remembered. */
  #changes = 0;

  /**
   * `onStale` hears that the origin failed, and that a value of `age` milliseconds is served instead; it is never waited
   * for. `onChange` hears of each record of which another answer is given from now on.
   */
  constructor(
    records: MetadataRecords<K, V>,
    limits: MetadataLimits,
    clock: Clock,
    offline: boolean,
    onUnwritten: (key: string, error: unknown) => void,
    onStale: (key: string, age: number, error: unknown) => void,
    onChange: (record: string) => void = () => undefined,
  ) {
    this.#records = records;
    this.#limits = limits;
    this.#clock = clock;
    this.#offline = offline;
    this.#onUnwritten = onUnwritten;
    this.#onStale = onStale;
    this.#onChange = onChange;
    this.#start = readMoment(clock);
  }

  /**
   * Returns a value that the origin confirmed less than `maxAge` milliseconds
   * ago. For an older one the origin is asked, unless it failed just now.
   * `fetch` is detached from the requests and has its own deadline. Absence is
   * thrown and remembered briefly, and believed for `absentFor` milliseconds at
   * most. While the origin fails, and where it `mayBeOld`, the known value is
   * returned if it is not too old.
   */
  async get(
    subject: K,
    fetch: FetchValue<V>,
    { maxAge = Infinity, absentFor = Infinity, mayBeOld }: Within = {},
  ): Promise<Answer<V>> {
    const key = this.#keyOf(subject);
    const fresh = Math.min(maxAge, this.#limits.versions);
    if (!this.#offline) {
      const absence =
        this.#absent.get(key) && this.#findAbsence(key, absentFor);
      if (absence !== undefined) throw failure("not-found", absence.subject);
      const held = this.#heldAnswer(key, fresh);
      if (held !== undefined) return held;
    }
    const joined = this.#asking.get(key);
    const isWaited =
      mayBeOld !== true || this.#offline || this.#limits.versions === 0;
    if (isWaited)
      return joined === undefined
        ? this.#ask(key, subject, fetch, fresh).answer
        : this.#join(joined.answer);
    // However many keys are asked for, so many are asked again at once.
    const isBusy = this.#asking.size >= this.#limits.waiters;
    const spared = isBusy ? this.#outdated(key, fresh) : undefined;
    if (joined === undefined && spared !== undefined) return spared;
    const asking = joined ?? this.#ask(key, subject, fetch, fresh);
    // That it could not be recalled is the answer, too.
    await asking.recalled.catch(() => undefined);
    const known = this.#outdated(key, fresh);
    if (known === undefined)
      return joined === undefined ? asking.answer : this.#join(asking.answer);
    // Whoever asks next hears of a failure.
    asking.answer.catch(() => undefined);
    return known;
  }

  /** Reads these records again when they are asked for: other processes may have changed them; undefined for all. */
  forget(changed: ReadonlySet<string> | undefined): void {
    this.#changes++;
    if (changed === undefined) this.#values.clear();
    for (const key of changed ?? []) {
      this.#values.delete(key);
      this.#absent.delete(key);
    }
  }

  /** Askers that wait for the origin. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Returns the known value of any age, without asking the origin. */
  async peek(subject: K): Promise<V | undefined> {
    const key = this.#keyOf(subject);
    return (await this.#recall(key, subject))?.value;
  }

  /** Writes what `change` makes of the known value, and again where another one was first. */
  async change(subject: K, change: (known: V) => V): Promise<void> {
    for (let tries = 0; tries < mostTries; tries++) {
      const known = await this.peek(subject);
      const value = known && change(known);
      if (value === undefined || value === known) return;
      const write = (ours: Kept<V>) => this.#records.write(subject, ours);
      if ((await this.replace(subject, value, write)) !== undefined) return;
    }
    throw failure("too-busy", `writers of ${this.#records.format(subject)}`);
  }

  /** Remembers what `write` keeps of a value. Undefined where another one was first: what that wrote is known from then on. */
  async replace(
    subject: K,
    value: V,
    write: (ours: Kept<V>) => Promise<Kept<V> | undefined>,
  ): Promise<V | undefined> {
    const key = this.#keyOf(subject);
    const held = this.#values.get(key);
    const confirmedAt = held?.confirmedAt ?? this.#clock.now();
    const kept = await write({ value, confirmedAt });
    if (kept === undefined) {
      this.#values.delete(key);
      return undefined;
    }
    this.#absent.delete(key);
    const checkedAt = held?.checkedAt ?? this.#clock.monotonic();
    const isRefused = held?.isRefused ?? false;
    const since = { spareUntil: 0, checkedAt, isRefused };
    return this.#remember(key, { ...since, ...kept }).value;
  }

  #keyOf(subject: K): string {
    const known = this.#keys.get(subject);
    if (known !== undefined) return known;
    const key = this.#records.key(subject).join("/");
    this.#keys.set(subject, key);
    return key;
  }

  #heldAnswer(key: string, fresh: number): Answer<V> | undefined {
    const now = this.#clock.monotonic();
    const known = this.#values.get(key);
    if (known === undefined) return undefined;
    if (this.#absent.get(key) && this.#findAbsence(key)) return undefined;
    const age = now - known.checkedAt;
    const isSpared = now < known.spareUntil && age <= this.#limits.staleFor;
    if (age >= fresh && !isSpared) return undefined;
    const outcome = age < fresh ? "hit" : "stale";
    return { value: known.value, outcome, age, originTime: 0 };
  }

  /**
   * What memory has although it is out of date; undefined where that is too old, or where the origin's last answer was
   * that it is no more, or not to be had.
   */
  #outdated(key: string, fresh: number): Answer<V> | undefined {
    const known = this.#values.get(key);
    if (known === undefined || known.isRefused) return undefined;
    const age = this.#clock.monotonic() - known.checkedAt;
    if (age > this.#limits.staleFor) return undefined;
    const isFailing = known.spareUntil > 0;
    const outcome = age >= fresh && isFailing ? "stale" : "hit";
    return { value: known.value, outcome, age, originTime: 0 };
  }

  /** What the origin said not to exist less than `within` milliseconds ago. */
  #findAbsence(key: string, within = Infinity): Absence | undefined {
    const absence = this.#absent.get(key);
    if (absence === undefined) return undefined;
    const age = this.#clock.monotonic() - absence.since;
    return age < Math.min(within, this.#limits.notFound) ? absence : undefined;
  }

  async #join(asking: Promise<Answer<V>>): Promise<Answer<V>> {
    if (this.#waiting >= this.#limits.waiters)
      throw failure("too-busy", "clients waiting for one answer");
    this.#waiting++;
    const start = this.#clock.monotonic();
    try {
      const answer = await asking;
      const outcome = answer.outcome === "stale" ? "stale" : "joined";
      const originTime = this.#clock.monotonic() - start;
      return { ...answer, outcome, originTime };
    } finally {
      this.#waiting--;
    }
  }

  #ask(
    key: string,
    subject: K,
    fetch: FetchValue<V>,
    fresh: number,
  ): Asking<V> {
    const recalled = this.#recall(key, subject);
    const answer = recalled
      .then((known) => this.#answer(key, subject, fetch, fresh, known))
      .finally(() => this.#asking.delete(key));
    const asking = { recalled, answer };
    this.#asking.set(key, asking);
    return asking;
  }

  async #answer(
    key: string,
    subject: K,
    fetch: FetchValue<V>,
    fresh: number,
    known: Remembered<V> | undefined,
  ): Promise<Answer<V>> {
    const held = known && this.#heldAnswer(key, fresh);
    if (held !== undefined) return held;
    const start = this.#clock.monotonic();
    if (this.#offline) {
      if (known === undefined)
        throw failure("not-stored", this.#records.format(subject));
      return { ...asHit(known.value), age: start - known.checkedAt };
    }
    try {
      const signal = AbortSignal.timeout(this.#limits.answer);
      const value = await this.#fetch(key, subject, fetch, known, signal);
      const originTime = this.#clock.monotonic() - start;
      return { value, outcome: "fetched", age: 0, originTime };
    } catch (error) {
      return this.#answerFailure(key, subject, known, error, start);
    }
  }

  /** Asks the origin, and again where another one wrote first: the answer has to continue what that wrote. */
  async #fetch(
    key: string,
    subject: K,
    fetch: FetchValue<V>,
    known: Remembered<V> | undefined,
    signal: AbortSignal,
  ): Promise<V> {
    let before = known;
    for (let tries = 0; tries < mostTries; tries++) {
      const fetched = await fetch(before?.value, signal);
      const kept = await this.#keep(key, subject, fetched, before?.value);
      if (kept !== undefined) return kept;
      const other = await this.#recall(key, subject);
      // A record that is gone is made again of what is known.
      before = other ?? (before && { ...before, value: asNew(before.value) });
    }
    throw failure("too-busy", `writers of ${this.#records.format(subject)}`);
  }

  /** Finds what memory or the record has. */
  async #recall(key: string, subject: K): Promise<Remembered<V> | undefined> {
    return this.#values.get(key) ?? (await this.#load(key, subject));
  }

  #answerFailure(
    key: string,
    subject: K,
    known: Remembered<V> | undefined,
    error: unknown,
    start: number,
  ): Answer<V> {
    const now = this.#clock.monotonic();
    if (isFailure(error, "not-found"))
      this.#absent.set(key, { subject: error.subject, since: now });
    if (known === undefined) throw error;
    // It may have been amended while the origin was asked.
    const held = this.#values.get(key) ?? known;
    const age = now - held.checkedAt;
    const isRefused = !isOriginFailure(error);
    if (isRefused) this.#remember(key, { ...held, isRefused });
    if (isRefused || age > this.#limits.staleFor) throw error;
    const pause = Math.min(pauseAfterFailure, this.#limits.versions);
    this.#remember(key, { ...held, spareUntil: now + pause });
    this.#onStale(this.#records.format(subject), age, error);
    const originTime = now - start;
    return { value: held.value, outcome: "stale", age, originTime };
  }

  async #load(key: string, subject: K): Promise<Remembered<V> | undefined> {
    const before = this.#values.get(key);
    const changes = this.#changes;
    const kept = await this.#records.read(subject);
    const held = this.#values.get(key);
    // A value that was written meanwhile is newer than the one that was read.
    if (held !== undefined && held !== before) return held;
    if (kept === undefined) return undefined;
    const fresh = this.#limits.versions;
    const age = ageOf(kept.confirmedAt, this.#clock, this.#start, fresh);
    const checkedAt = this.#clock.monotonic() - age;
    const state = { checkedAt, spareUntil: 0, isRefused: false };
    const read = { ...kept, ...state };
    return changes === this.#changes ? this.#remember(key, read) : read;
  }

  async #keep(
    key: string,
    subject: K,
    value: V,
    known: V | undefined,
  ): Promise<V | undefined> {
    const ours = { value, confirmedAt: this.#clock.now() };
    let kept: Kept<V> | undefined = ours;
    try {
      if (value !== known) kept = await this.#records.write(subject, ours);
      // It may have been decided on while the origin was asked.
      else kept = { ...ours, value: this.#values.get(key)?.value ?? value };
    } catch (error) {
      // A disk that is full must not turn a good answer into a failure.
      if (isFailure(error, "record-unreadable")) throw error;
      this.#onUnwritten(this.#records.format(subject), error);
    }
    if (kept === undefined) {
      this.#values.delete(key);
      return undefined;
    }
    this.#absent.delete(key);
    const checkedAt = this.#clock.monotonic();
    const state = { checkedAt, spareUntil: 0, isRefused: false };
    return this.#remember(key, { ...kept, ...state }).value;
  }

  #remember(key: string, remembered: Remembered<V>): Remembered<V> {
    const { value, isRefused, spareUntil } = remembered;
    const before = this.#values.peek(key);
    const isSame =
      before?.value === value &&
      before.isRefused === isRefused &&
      before.spareUntil === spareUntil;
    if (!isSame) this.#onChange(key);
    const size = Math.max(1, this.#records.weigh(value));
    this.#values.set(key, remembered, { size });
    return remembered;
  }
}

function asNew<V extends Revised>(value: V): V {
  return { ...value, revision: 0 };
}

/** A value that knows the revision of the record that it was made from; 0 for none. */
export interface Revised {
  readonly revision: number;
}

interface Remembered<V> extends Kept<V> {
  /** Time on the monotonic clock. */
  readonly checkedAt: number;
  /** While it fails, the origin is not asked before this. */
  readonly spareUntil: number;
  /** The origin answered last that it is no more, or with what is refused, so that its answer is waited for. */
  readonly isRefused: boolean;
}

/** A request to the origin, and what was known before. */
interface Asking<V> {
  readonly recalled: Promise<Remembered<V> | undefined>;
  readonly answer: Promise<Answer<V>>;
}

/** The error itself is not kept: its stack would keep much else in memory. */
interface Absence {
  readonly subject: string;
  /** Time on the monotonic clock. */
  readonly since: number;
}

/** A value and when the origin last confirmed it. */
export interface Kept<V> {
  readonly value: V;
  readonly confirmedAt: Date;
}

/** Records of one kind of value on disk, by subject. */
export interface MetadataRecords<K, V extends Revised> {
  /** The subject in words. */
  format(subject: K): string;
  key(subject: K): RecordKey;
  read(subject: K): Promise<Kept<V> | undefined>;
  /** Writes a value, and returns it with its new revision. Undefined, and nothing is written, where its record is no longer of its revision. */
  write(subject: K, kept: Kept<V>): Promise<Kept<V> | undefined>;
  /** About how many bytes the value takes, which bounds what memory holds. */
  weigh(value: V): number;
}

/**
 * Source of an answer: cache, another client's request, origin, or an outdated
 * copy.
 */
export type Outcome = "hit" | "joined" | "fetched" | "stale";

export interface Answer<V> {
  readonly value: V;
  readonly outcome: Outcome;
  /** Milliseconds since the origin last confirmed the value. */
  readonly age: number;
  /** Milliseconds spent asking the origin; 0 when it was not asked. */
  readonly originTime: number;
}

/** Wraps a cached value for which no origin was asked. */
export function asHit<T>(value: T): Answer<T> {
  return { value, outcome: "hit", age: 0, originTime: 0 };
}
