import { AsyncLocalStorage } from "node:async_hooks";
import { failure } from "../../../src/errors/index.ts";
import type { Clock } from "../../../src/mirror/cache/clock.ts";
import {
  isRebuildable,
  type ReadBody,
  type RecordKey,
  type RecordStore,
} from "../../../src/store/records/record-store.ts";
import { randomFrom } from "../random.ts";
import { type Answer, readFailure } from "./answers.ts";

/** A write at which a process dies. */
export interface CrashPoint {
  /** Writes that still succeed. */
  readonly writes: number;
  readonly when: "before" | "after";
}

const never = new Promise<void>(() => undefined);

/** One run of a modelled process: everything that it waits for ends with it. */
export class Life {
  readonly #died = Promise.withResolvers<Answer>();
  isDead = false;
  /** Has the process die at one of its next writes. */
  crash: CrashPoint | undefined;
  /** Turns that a wait takes, of at most so many; undefined: none. */
  #turns: ((most: number) => number) | undefined;

  end(): void {
    this.isDead = true;
    this.#died.resolve({ kind: "dead" });
  }

  /** What comes of something that the process does, unless it dies before. */
  answer(given: Promise<Answer>): Promise<Answer> {
    return Promise.race([given.catch(readFailure), this.#died.promise]);
  }

  /** Has every wait take a random number of turns from now on; undefined: none. */
  paceBy(seed: number | undefined): void {
    this.#turns = seed === undefined ? undefined : randomFrom(seed).below;
  }

  /** Waits as long as storage or an origin takes; never ends for a dead process. */
  async wait(most: number): Promise<void> {
    if (this.isDead) await never;
    const turns = this.#turns?.(most) ?? 0;
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    if (this.isDead) await never;
  }

  /** Carries out a write, unless the process dies before it; never ends where it dies after it. */
  async write(apply: () => void): Promise<void> {
    const { writes, when } = this.crash ?? { writes: Infinity, when: "after" };
    const isLast = writes <= 0;
    if (!isLast || when === "after") apply();
    if (isLast) {
      this.end();
      await never;
    }
    if (this.crash !== undefined) this.crash = { writes: writes - 1, when };
  }
}

interface StoredRecord {
  readonly key: RecordKey;
  readonly text: string;
  readonly revision: number;
}

/** Records that outlive the processes of a sequence. */
export class MemoryDisk {
  readonly records = new Map<string, StoredRecord>();
  /** Writes of processes, in order; `at` is the time on the monotonic clock. */
  readonly changes: { record: string; by: object; at: number }[] = [];
  revision = 0;
  isFull = false;

  list(): readonly RecordKey[] {
    return [...this.records]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { key }]) => key);
  }
}

/** Turns that a look at the disk takes at most in a burst. */
const slowest = 4;

/** Milliseconds until a process hears of another one's write. */
const untold = 500;

/** A transaction that is open. */
class Draft {
  /** Revisions of what was read. */
  readonly seen = new Map<string, number | undefined>();
  readonly written = new Map<string, StoredRecord | undefined>();
  /** True where something is written, beside the records too. */
  writes = false;
  /** What is called behind it. */
  readonly then: (() => void)[] = [];
}

/** The records of a disk as one process sees them. */
export class MemoryRecords implements RecordStore {
  readonly #disk: MemoryDisk;
  readonly #life: Life;
  readonly #clock: Clock;
  readonly #listeners: ((changed: ReadonlySet<string>) => void)[] = [];
  readonly #drafts = new AsyncLocalStorage<Draft>();
  #told: number;

  constructor(disk: MemoryDisk, life: Life, clock: Clock) {
    this.#disk = disk;
    this.#life = life;
    this.#clock = clock;
    this.#told = disk.changes.length;
  }

  listen(listener: (changed: ReadonlySet<string>) => void): void {
    this.#listeners.push(listener);
  }

  /** Tells what other processes wrote, once they wrote it a while ago. */
  look(): Promise<void> {
    const { changes } = this.#disk;
    const due = this.#clock.monotonic() - untold;
    const changed = new Set<string>();
    for (; (changes[this.#told]?.at ?? Infinity) <= due; this.#told++) {
      const { record, by } = changes[this.#told] ?? {};
      if (record !== undefined && by !== this.#life) changed.add(record);
    }
    if (changed.size > 0)
      for (const listener of this.#listeners) listener(changed);
    return Promise.resolve();
  }

  /**
   * Carries out everything at once in the end, from the start where another process changed what was read. What `work`
   * reads again is as it wrote it.
   */
  async transact<T>(work: () => Promise<T>): Promise<T> {
    if (this.#drafts.getStore() !== undefined) return work();
    for (;;) {
      const draft = new Draft();
      const result = await this.#drafts.run(draft, work);
      if (!draft.writes) return result;
      await this.#life.wait(slowest);
      const { records } = this.#disk;
      const isOutdated = draft.seen
        .entries()
        .some(([name, at]) => records.get(name)?.revision !== at);
      if (isOutdated) continue;
      if (this.#disk.isFull)
        throw Object.assign(new Error(), { code: "ENOSPC", syscall: "write" });
      await this.#life.write(() => this.#commit(draft));
      for (const then of draft.then) then();
      return result;
    }
  }

  /** It has records alone. */
  ask<T>(): Promise<T> {
    return Promise.resolve(undefined as T);
  }

  whenCommitted(then: () => void): void {
    const draft = this.#drafts.getStore();
    if (draft === undefined) then();
    else draft.then.push(then);
  }

  /** Writes something beside the records, which nobody reads. */
  note(): Promise<void> {
    return this.transact(() => {
      const draft = this.#drafts.getStore();
      if (draft !== undefined) draft.writes = true;
      return Promise.resolve();
    });
  }

  async read<T>(key: RecordKey, readBody: ReadBody<T>): Promise<T | undefined> {
    await this.#life.wait(slowest);
    return this.#open(key, readBody);
  }

  swap(
    key: RecordKey,
    revision: number,
    body: unknown,
  ): Promise<number | undefined> {
    return this.transact(async () => {
      await this.#life.wait(slowest);
      const before = this.#find(key)?.revision ?? 0;
      return before === revision ? this.#put(key, body) : undefined;
    });
  }

  change<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    change: (before: T | undefined) => unknown,
  ): Promise<void> {
    return this.transact(async () => {
      await this.#life.wait(slowest);
      const before = this.#open(key, readBody);
      const after = change(before);
      if (after !== before) this.#put(key, after);
    });
  }

  refuse(key: RecordKey, problem: string): never {
    const record = `records/${key.join("/")}.json`;
    throw failure("record-unreadable", record, problem);
  }

  async remove(key: RecordKey): Promise<void> {
    await this.transact(async () => {
      await this.#life.wait(slowest);
      if (this.#find(key) !== undefined) this.#put(key, undefined);
    });
  }

  async *listAll(): AsyncGenerator<RecordKey> {
    await this.#life.wait(slowest);
    yield* this.#disk.list();
  }

  async measure(): Promise<number> {
    await this.#life.wait(slowest);
    return this.#disk.records.size;
  }

  async list(
    prefix: RecordKey,
    length = Infinity,
  ): Promise<readonly (readonly string[])[]> {
    await this.#life.wait(slowest);
    const found = this.#disk
      .list()
      .filter((key) => prefix.every((part, index) => key[index] === part))
      .map((key) => key.slice(prefix.length, prefix.length + length));
    return [...new Map(found.map((rest) => [rest.join("/"), rest])).values()];
  }

  #find(key: RecordKey): StoredRecord | undefined {
    const name = key.join("/");
    const draft = this.#drafts.getStore();
    if (draft?.written.has(name)) return draft.written.get(name);
    const found = this.#disk.records.get(name);
    draft?.seen.set(name, found?.revision);
    return found;
  }

  /** Undefined removes it. Returns its new revision. */
  #put(key: RecordKey, body: unknown): number {
    const revision = ++this.#disk.revision;
    const text = JSON.stringify(body) as string | undefined;
    const record = text === undefined ? undefined : { key, text, revision };
    const draft = this.#drafts.getStore();
    if (draft !== undefined) draft.writes = true;
    draft?.written.set(key.join("/"), record);
    return revision;
  }

  #commit({ written }: Draft): void {
    const { records, changes } = this.#disk;
    const at = this.#clock.monotonic();
    for (const [name, record] of written) {
      if (record === undefined) records.delete(name);
      else records.set(name, record);
      changes.push({ record: name, by: this.#life, at });
    }
  }

  #open<T>(key: RecordKey, readBody: ReadBody<T>): T | undefined {
    const stored = this.#find(key);
    if (stored === undefined) return undefined;
    try {
      return readBody(JSON.parse(stored.text), stored.revision);
    } catch {
      if (isRebuildable(key)) return undefined;
      return this.refuse(key, "it is not what was written");
    }
  }
}
