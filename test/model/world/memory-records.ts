import { failure } from "../../../src/errors/index.ts";
import { isRebuildable, type RecordKey } from "../../../src/store/layout.ts";
import type {
  ReadBody,
  RecordStore,
} from "../../../src/store/records/record-store.ts";
import type { Clock } from "../../../src/mirror/cache/clock.ts";
import type { Life } from "./life.ts";
import type { MemoryDisk, StoredRecord } from "./memory-disk.ts";

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

/** The records of a disk as one process sees them. */
export class MemoryRecords implements RecordStore {
  readonly #disk: MemoryDisk;
  readonly #life: Life;
  readonly #clock: Clock;
  readonly #listeners: ((changed: ReadonlySet<string>) => void)[] = [];
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

  async read<T>(key: RecordKey, readBody: ReadBody<T>): Promise<T | undefined> {
    await this.#life.wait(slowest);
    return this.#open(key, this.#disk.find(key), readBody);
  }

  async create<T>(
    key: RecordKey,
    body: unknown,
    readBody: ReadBody<T>,
  ): Promise<T> {
    await this.#life.wait(slowest);
    const first = this.#open(key, this.#disk.find(key), readBody);
    if (first !== undefined) return first;
    const text = JSON.stringify(body);
    await this.#write(key, () => this.#disk.put(key, text));
    return readBody(JSON.parse(text));
  }

  /** Reads, changes and writes again from the start where another process wrote meanwhile. */
  async change<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    change: (before: T | undefined) => unknown,
  ): Promise<void> {
    for (;;) {
      await this.#life.wait(slowest);
      const stored = this.#disk.find(key);
      const before = this.#open(key, stored, readBody);
      const after = change(before);
      if (after === before) return;
      await this.#life.wait(slowest);
      if (this.#disk.find(key)?.revision !== stored?.revision) continue;
      const text = JSON.stringify(after);
      await this.#write(key, () => this.#disk.put(key, text));
      return;
    }
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
    await this.#life.wait(slowest);
    if (this.#disk.find(key) !== undefined)
      await this.#write(key, () => this.#disk.remove(key));
  }

  async *listAll(): AsyncGenerator<RecordKey> {
    await this.#life.wait(slowest);
    yield* this.#disk.list();
  }

  async measure(): Promise<number> {
    await this.#life.wait(slowest);
    return this.#disk.list().length;
  }

  list(prefix: RecordKey): Promise<readonly string[]> {
    return this.#listBelow(prefix, (rest) => rest.length === 1);
  }

  folders(prefix: RecordKey): Promise<readonly string[]> {
    return this.#listBelow(prefix, (rest) => rest.length > 1);
  }

  async #listBelow(
    prefix: RecordKey,
    isWanted: (rest: RecordKey) => boolean,
  ): Promise<readonly string[]> {
    await this.#life.wait(slowest);
    const names = this.#disk
      .list()
      .filter((key) => prefix.every((part, index) => key[index] === part))
      .map((key) => key.slice(prefix.length))
      .flatMap((rest) => (isWanted(rest) ? (rest[0] ?? []) : []));
    return [...new Set(names)];
  }

  async #write(key: RecordKey, apply: () => void): Promise<void> {
    if (this.#disk.isFull) throw new DiskFull();
    await this.#life.write(() => {
      apply();
      const [record, at] = [key.join("/"), this.#clock.monotonic()];
      this.#disk.changes.push({ record, by: this.#life, at });
    });
  }

  #open<T>(
    key: RecordKey,
    stored: StoredRecord | undefined,
    readBody: ReadBody<T>,
  ): T | undefined {
    if (stored === undefined) return undefined;
    try {
      if (!stored.isDamaged) return readBody(JSON.parse(stored.text));
    } catch {
      // Such a body is refused below like a damaged one.
    }
    if (isRebuildable(key)) return undefined;
    return this.refuse(key, "it is not what was written");
  }
}
