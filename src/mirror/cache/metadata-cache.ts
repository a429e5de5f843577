import { failure, isFailure, isOriginFailure } from "../../errors/index.ts";
import type { Clock } from "./clock.ts";
import { getHeapStatistics } from "node:v8";
import type { RecordKey } from "../../store/records/record-store.ts";
import { LRUCache } from "lru-cache";
import type { ProviderChanges } from "./provider-changes.ts";

/** Bytes for each kind of metadata; the kinds together take at most half of a small heap. */
const memoryBytes = Math.min(
  64 * 1024 * 1024,
  getHeapStatistics().heap_size_limit / 8,
);
const absentEntries = 10_000;

/** Asks the origin; gets what is known already, and gives that very value back where nothing is to be written. */
type FetchValue<V> = (known: V | undefined, signal: AbortSignal) => Promise<V>;

interface MetadataSettings {
  /** Milliseconds each, but for `waiters`. */
  readonly limits: {
    readonly versions: number;
    readonly staleFor: number;
    readonly notFound: number;
    readonly answer: number;
    readonly waiters: number;
  };
  readonly clock: Clock;
  readonly offline: boolean;
  readonly onUnwritten: (key: string, error: unknown) => void;
  /** The origin failed, and a value of `age` milliseconds is served instead; never waited for. */
  readonly onStale: (key: string, age: number, error: unknown) => void;
  /** Hear of records of which another answer is given from now on. */
  readonly changes?: ProviderChanges;
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

/** The origin neither failed nor refused since. */
const unspared = { spareUntil: 0, isRefused: false };

/**
 * Cache of metadata: memory over records over the origin. Concurrent requests
 * share one request to the origin. While it fails, stale answers are served.
 */
export class MetadataCache<K extends object, V extends Revised> {
  readonly #records: MetadataRecords<K, V>;
  readonly #limits: MetadataSettings["limits"];
  readonly #clock: Clock;
  readonly #settings: MetadataSettings;
  /** The time on the wall when the monotonic clock was at 0, as it was when this began. */
  readonly #epoch: number;
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

  constructor(records: MetadataRecords<K, V>, settings: MetadataSettings) {
    this.#records = records;
    this.#settings = settings;
    const { limits, clock } = settings;
    this.#limits = limits;
    this.#clock = clock;
    this.#epoch = clock.now().getTime() - clock.monotonic();
  }

  /**
   * Returns a value that the origin confirmed less than `maxAge` milliseconds ago. For an older one the origin is asked,
   * unless it failed just now. `fetch` is detached from the requests and has its own deadline. Absence is thrown and
   * remembered briefly, and believed for `absentFor` milliseconds at most. While the origin fails, and where it
   * `mayBeOld`, the known value is returned if it is not too old.
   */
  async get(
    subject: K,
    fetch: FetchValue<V>,
    { maxAge = Infinity, absentFor = Infinity, mayBeOld }: Within = {},
  ): Promise<Answer<V>> {
    const key = this.#keyOf(subject);
    const { versions, waiters } = this.#limits;
    const { offline } = this.#settings;
    const fresh = Math.min(maxAge, versions);
    if (!offline) {
      const absence = this.#findAbsence(key, absentFor);
      if (absence !== undefined) throw failure("not-found", absence.subject);
      const held = this.#held(key, fresh);
      if (held !== undefined) return held;
    }
    const joined = this.#asking.get(key);
    const isWaited = mayBeOld !== true || offline || versions === 0;
    // However many keys are asked for, so many are asked again at once.
    if (!isWaited && joined === undefined && this.#asking.size >= waiters) {
      const spared = this.#held(key, fresh, true);
      if (spared !== undefined) return spared;
    }
    const asking = joined ?? this.#ask(key, subject, fetch, fresh);
    if (!isWaited) {
      // That it could not be recalled is the answer, too.
      await asking.recalled.catch(() => undefined);
      const known = this.#held(key, fresh, true);
      if (known !== undefined) {
        // Whoever asks next hears of a failure.
        asking.answer.catch(() => undefined);
        return known;
      }
    }
    return joined === undefined ? asking.answer : this.#join(asking.answer);
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

  get waiting(): number {
    return this.#waiting;
  }

  /** Returns the known value of any age, without asking the origin. */
  async peek(subject: K): Promise<V | undefined> {
    return (await this.#recall(this.#keyOf(subject), subject))?.value;
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
    const {
      confirmedAt = this.#clock.now(),
      checkedAt = this.#clock.monotonic(),
      isRefused = false,
    } = this.#values.get(key) ?? {};
    const kept = await write({ value, confirmedAt });
    if (kept === undefined) {
      this.#values.delete(key);
      return undefined;
    }
    this.#absent.delete(key);
    const since = { checkedAt, isRefused, spareUntil: 0 };
    return this.#remember(key, { ...since, ...kept }).value;
  }

  #keyOf(subject: K): string {
    const known = this.#keys.get(subject);
    if (known !== undefined) return known;
    const key = this.#records.key(subject).join("/");
    this.#keys.set(subject, key);
    return key;
  }

  /**
   * What memory has, as far as it is fresh, or the origin fails and is spared; with `mayBeOld` also what is out of date,
   * unless the origin's last answer was that it is no more, or not to be had.
   */
  #held(key: string, fresh: number, mayBeOld = false): Answer<V> | undefined {
    const known = this.#values.get(key);
    if (known === undefined || this.#findAbsence(key)) return undefined;
    const { value, checkedAt, spareUntil, isRefused } = known;
    const now = this.#clock.monotonic();
    const age = now - checkedAt;
    const isFresh = age < fresh;
    const isGood = now < spareUntil || (mayBeOld && !isRefused);
    if (!isFresh && !(isGood && age <= this.#limits.staleFor)) return undefined;
    const outcome = isFresh || spareUntil === 0 ? "hit" : "stale";
    return { value, outcome, age, originTime: 0 };
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
    const ask = async (): Promise<Answer<V>> => {
      const known = await recalled;
      const held = known && this.#held(key, fresh);
      if (held !== undefined) return held;
      const start = this.#clock.monotonic();
      if (this.#settings.offline) {
        if (known === undefined)
          throw failure("not-stored", this.#records.format(subject));
        return { ...asHit(known.value), age: start - known.checkedAt };
      }
      try {
        const value = await this.#fetch(key, subject, fetch, known);
        const originTime = this.#clock.monotonic() - start;
        return { value, outcome: "fetched", age: 0, originTime };
      } catch (error) {
        const now = this.#clock.monotonic();
        if (isFailure(error, "not-found"))
          this.#absent.set(key, { subject: error.subject, since: now });
        if (known === undefined) throw error;
        // It may have been amended while the origin was asked.
        const latest = this.#values.get(key) ?? known;
        const age = now - latest.checkedAt;
        const isRefused = !isOriginFailure(error);
        if (isRefused) this.#remember(key, { ...latest, isRefused });
        if (isRefused || age > this.#limits.staleFor) throw error;
        const pause = Math.min(pauseAfterFailure, this.#limits.versions);
        this.#remember(key, { ...latest, spareUntil: now + pause });
        this.#settings.onStale(this.#records.format(subject), age, error);
        const originTime = now - start;
        return { value: latest.value, outcome: "stale", age, originTime };
      }
    };
    const answer = ask().finally(() => this.#asking.delete(key));
    const asking = { recalled, answer };
    this.#asking.set(key, asking);
    return asking;
  }

  /** Asks the origin, and again where another one wrote first: the answer has to continue what that wrote. */
  async #fetch(
    key: string,
    subject: K,
    fetch: FetchValue<V>,
    known: Remembered<V> | undefined,
  ): Promise<V> {
    const signal = AbortSignal.timeout(this.#limits.answer);
    let before = known?.value;
    for (let tries = 0; tries < mostTries; tries++) {
      const value = await fetch(before, signal);
      const ours = { value, confirmedAt: this.#clock.now() };
      let kept: Kept<V> | undefined = ours;
      try {
        if (value !== before) kept = await this.#records.write(subject, ours);
        // It may have been decided on while the origin was asked.
        else kept = { ...ours, value: this.#values.get(key)?.value ?? value };
      } catch (error) {
        // A disk that is full must not turn a good answer into a failure.
        if (isFailure(error, "record-unreadable")) throw error;
        this.#settings.onUnwritten(this.#records.format(subject), error);
      }
      if (kept !== undefined) {
        this.#absent.delete(key);
        const checkedAt = this.#clock.monotonic();
        return this.#remember(key, { ...kept, ...unspared, checkedAt }).value;
      }
      this.#values.delete(key);
      const other = await this.#recall(key, subject);
      // A record that is gone is made again of what is known.
      before = other?.value ?? (before && { ...before, revision: 0 });
    }
    throw failure("too-busy", `writers of ${this.#records.format(subject)}`);
  }

  async #recall(key: string, subject: K): Promise<Remembered<V> | undefined> {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const changes = this.#changes;
    const kept = await this.#records.read(subject);
    // A value that was written meanwhile is newer than the one that was read.
    const held = this.#values.get(key);
    if (held !== undefined || kept === undefined) return held;
    const checkedAt = this.#clock.monotonic() - this.#ageOf(kept.confirmedAt);
    const read = { ...kept, ...unspared, checkedAt };
    return changes === this.#changes ? this.#remember(key, read) : read;
  }

  /**
   * Milliseconds since a record was confirmed; as old as what is not fresh where that is not sure.
   * The wall clock may have been stepped since this began. So the date is compared with the clock, and with the clock as
   * it would be without the step. A record is fresh when both say so, and no older than the one that says less.
   */
  #ageOf(confirmedAt: Date): number {
    const fresh = this.#limits.versions;
    const unstepped = this.#epoch + this.#clock.monotonic();
    const ages = [this.#clock.now().getTime(), unstepped]
      .map((now) => now - confirmedAt.getTime())
      .filter((age) => age >= 0);
    if (ages.length === 0) return fresh;
    return Math.max(Math.min(...ages), Math.min(Math.max(...ages), fresh));
  }

  #remember(key: string, remembered: Remembered<V>): Remembered<V> {
    const { value, isRefused, spareUntil } = remembered;
    const before = this.#values.peek(key);
    const isSame =
      before?.value === value &&
      before.isRefused === isRefused &&
      before.spareUntil === spareUntil;
    if (!isSame) this.#settings.changes?.noteRecord(key);
    const size = Math.max(1, this.#records.weigh(value));
    this.#values.set(key, remembered, { size });
    return remembered;
  }
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

export interface Kept<V> {
  readonly value: V;
  readonly confirmedAt: Date;
}

export interface MetadataRecords<K, V extends Revised> {
  format(subject: K): string;
  key(subject: K): RecordKey;
  read(subject: K): Promise<Kept<V> | undefined>;
  /** Writes a value, and returns it with its new revision. Undefined, and nothing is written, where its record is no longer of its revision. */
  write(subject: K, kept: Kept<V>): Promise<Kept<V> | undefined>;
  /** About how many bytes the value takes, which bounds what memory holds. */
  weigh(value: V): number;
}

/** Source of an answer: cache, another client's request, origin, or an outdated copy. */
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
