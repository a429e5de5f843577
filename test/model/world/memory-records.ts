import { AsyncLocalStorage } from "node:async_hooks";
import { failure } from "../../../src/errors/index.ts";
import {
  isRebuildable,
  type RecordKey,
} from "../../../src/store/records/record-tables.ts";
import type {
  ReadBody,
  RecordStore,
} from "../../../src/store/records/record-store.ts";
import type { Clock } from "../../../src/mirror/cache/clock.ts";
import type { Life } from "./life.ts";
import type { MemoryDisk, StoredRecord } from "./memory-machine.ts";

/** Turns that a look at the disk takes at most in a burst. */
const slowest = 4;

/** Milliseconds until a process hears of another one's write. */
const untold = 500;

/** The failure of a write, as the system reports it. */
export class DiskFull extends Error {
  readonly code = "ENOSPC";
  readonly syscall = "write";
  constructor() {
    super("ENOSPC: no space left on device, write");
  }
}

/** A transaction that is open. */
class Draft {
  /** What is carried out in the end. */
  readonly effects: (() => void)[] = [];
  /** What is called behind it. */
  readonly then: (() => void)[] = [];
  readonly #revisions = new Map<string, number | undefined>();
  readonly #written = new Map<string, StoredRecord | undefined>();

  find(disk: MemoryDisk, key: RecordKey): StoredRecord | undefined {
    const name = key.join("/");
    if (this.#written.has(name)) return this.#written.get(name);
    const found = disk.find(name);
    this.#revisions.set(name, found?.revision);
    return found;
  }

  put(name: string, record: StoredRecord | undefined, effect: () => void) {
    this.#written.set(name, record);
    this.effects.push(effect);
  }

  /** True where what was read, and what is written, is something else by now. */
  isOutdated(disk: MemoryDisk): boolean {
    return this.#revisions
      .entries()
      .some(([name, seen]) => disk.find(name)?.revision !== seen);
  }
}

/** The records of a disk as one process sees them. */
export class MemoryRecords implements RecordStore {
  readonly #disk: MemoryDisk;
  readonly #life: Life;
  readonly #clock: Clock;
  readonly #listeners: ((changed: ReadonlySet<string>) => void)[] = [];
  readonly #drafts = new AsyncLocalStorage<Draft>();
  #seen: number;

  constructor(disk: MemoryDisk, life: Life, clock: Clock) {
    this.#disk = disk;
    this.#life = life;
    this.#clock = clock;
    this.#seen = disk.changes.length;
  }

  listen(listener: (changed: ReadonlySet<string>) => void): void {
    this.#listeners.push(listener);
  }

  /** Tells what other processes wrote, once they wrote it a while ago. */
  look(): Promise<void> {
    const due = this.#clock.monotonic() - untold;
    const changed = new Set<string>();
    for (;;) {
      const next = this.#disk.changes[this.#seen];
      if (next === undefined || next.at > due) break;
      this.#seen++;
      if (next.by !== this.#life) changed.add(next.record);
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
      if (draft.effects.length === 0) return result;
      await this.#life.wait(slowest);
      if (draft.isOutdated(this.#disk)) continue;
      if (this.#disk.isFull) throw new DiskFull();
      await this.#life.write(() => {
        for (const effect of draft.effects) effect();
      });
      for (const then of draft.then) then();
      return result;
    }
  }

  ask(): never {
    throw new Error("the model has records alone");
  }

  whenCommitted(then: () => void): void {
    const draft = this.#drafts.getStore();
    if (draft === undefined) then();
    else draft.then.push(then);
  }

  /** Writes something beside the records. */
  write(effect: () => void): Promise<void> {
    return this.transact(() => {
      this.#drafts.getStore()?.effects.push(effect);
      return Promise.resolve();
    });
  }

  async read<T>(key: RecordKey, readBody: ReadBody<T>): Promise<T | undefined> {
    await this.#life.wait(slowest);
    return this.#open(key, this.#find(key), readBody);
  }

  swap(
    key: RecordKey,
    revision: number,
    body: unknown,
  ): Promise<number | undefined> {
    return this.transact(async () => {
      await this.#life.wait(slowest);
      const before = this.#find(key)?.revision ?? 0;
      return before === revision
        ? this.#put(key, JSON.stringify(body))
        : undefined;
    });
  }

  change<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    change: (before: T | undefined) => unknown,
  ): Promise<void> {
    return this.transact(async () => {
      await this.#life.wait(slowest);
      const before = this.#open(key, this.#find(key), readBody);
      const after = change(before);
      if (after !== before) this.#put(key, JSON.stringify(after));
    });
  }

  refuse(key: RecordKey, problem: string): never {
    throw failure(
      "record-unreadable",
      `records/${key.join("/")}.json`,
      problem,
      "restore it",
    );
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
    return this.#disk.list().length;
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
    const draft = this.#drafts.getStore();
    return draft ? draft.find(this.#disk, key) : this.#disk.find(key.join("/"));
  }

  /** Undefined removes it. Returns its new revision. */
  #put(key: RecordKey, text: string | undefined): number {
    const revision = this.#disk.nextRevision();
    const record =
      text === undefined
        ? undefined
        : { key, text, revision, isDamaged: false };
    const name = key.join("/");
    this.#drafts.getStore()?.put(name, record, () => {
      if (record === undefined) this.#disk.remove(key);
      else this.#disk.put(record);
      const at = this.#clock.monotonic();
      this.#disk.changes.push({ record: name, by: this.#life, at });
    });
    return revision;
  }

  #open<T>(
    key: RecordKey,
    stored: StoredRecord | undefined,
    readBody: ReadBody<T>,
  ): T | undefined {
    if (stored === undefined) return undefined;
    try {
      if (!stored.isDamaged)
        return readBody(JSON.parse(stored.text), stored.revision);
    } catch {
      // Such a body is refused below like a damaged one.
    }
    if (isRebuildable(key)) return undefined;
    return this.refuse(key, "it is not what was written");
  }
}
