import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../../../src/mirror/cache/clock.ts";
import type { Database } from "../../../src/store/database/transactions.ts";
import {
  RecordStore,
  type ReadBody,
  type RecordKey,
} from "../../../src/store/records/record-store.ts";
import { randomFrom } from "../random.ts";
import { type Answer, readFailure } from "./answers.ts";

/** A write at which a process dies. */
export interface CrashPoint {
  /** Writes that still succeed. */
  readonly writes: number;
  readonly when: "before" | "after";
}

/** One for each who waits: a promise keeps them all. */
const never = () => new Promise<void>(() => undefined);

/** Ends what a process does that is dead: a transaction is taken back. */
class Killed extends Error {}

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
    await this.untilKilled(() => this.pass(most));
  }

  /** The same in a transaction, which ends with the process. */
  async pass(most: number): Promise<void> {
    this.#expectAlive();
    const turns = this.#turns?.(most) ?? 0;
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    this.#expectAlive();
  }

  /** Never ends where the process dies meanwhile. */
  async untilKilled<T>(act: () => Promise<T>): Promise<T> {
    try {
      const result = await act();
      this.#expectAlive();
      return result;
    } catch (error) {
      if (error instanceof Killed) await never();
      throw error;
    }
  }

  /** Called before what was written counts, where the process may die; returns what is called once it does. */
  write(): () => void {
    const { writes, when } = this.crash ?? { writes: Infinity, when: "after" };
    const isLast = writes <= 0;
    if (isLast && when === "before") this.end();
    this.#expectAlive();
    if (this.crash !== undefined) this.crash = { writes: writes - 1, when };
    return () => {
      if (isLast) this.end();
    };
  }

  #expectAlive(): void {
    if (this.isDead) throw new Killed();
  }
}

/** A database that outlives the processes of a sequence. */
export class ModelDisk {
  readonly database: Database;
  /** The records as no process sees them: nothing in it fails or waits. */
  readonly records: RecordStore;
  /** Writes of processes, in order; `at` is the time on the monotonic clock. */
  readonly changes: { record: string; by: object; at: number }[] = [];
  isFull = false;

  constructor(database: Database) {
    this.database = database;
    this.records = new RecordStore(database);
  }
}

/** Turns that a look at the disk takes at most in a burst. */
const slowest = 4;

/** Milliseconds until a process hears of another one's write. */
const untold = 500;

/** A transaction, and the names of what it has written. */
interface Open {
  readonly written: string[];
  isOver: boolean;
}

/** The records of a disk as one process sees them: other processes wait for its transactions, and hear of them a moment later. */
export class ModelRecords extends RecordStore {
  readonly #disk: ModelDisk;
  readonly #life: Life;
  readonly #clock: Clock;
  readonly #open = new AsyncLocalStorage<Open>();

  constructor(disk: ModelDisk, life: Life, clock: Clock) {
    const { changes } = disk;
    let told = changes.length;
    const findChanges = () => {
      const due = clock.monotonic() - untold;
      const changed = new Set<string>();
      for (; (changes[told]?.at ?? Infinity) <= due; told++) {
        const { record, by } = changes[told] ?? {};
        if (record !== undefined && by !== life) changed.add(record);
      }
      return Promise.resolve(changed);
    };
    super({ ...disk.database, findChanges });
    this.#disk = disk;
    this.#life = life;
    this.#clock = clock;
  }

  override transact<T>(work: () => Promise<T>): Promise<T> {
    if (this.#current !== undefined) return super.transact(work);
    let count: (() => void) | undefined;
    const whole = async () => {
      const open: Open = { written: [], isOver: false };
      try {
        const result = await this.#open.run(open, work);
        if (open.written.length > 0) count = await this.#commit(open);
        return result;
      } finally {
        open.isOver = true;
      }
    };
    return this.#life.untilKilled(async () => {
      const result = await super.transact(whole);
      count?.();
      return result;
    });
  }

  /** What happens to the process and to the disk at a commit; returns what is called once it counts. */
  async #commit({ written }: Open): Promise<() => void> {
    await this.#life.pass(slowest);
    if (this.#disk.isFull)
      throw Object.assign(new Error(), { code: "ENOSPC", syscall: "write" });
    const end = this.#life.write();
    return () => {
      const at = this.#clock.monotonic();
      const by = this.#life;
      for (const record of written) this.#disk.changes.push({ record, by, at });
      end();
    };
  }

  get #current(): Open | undefined {
    const open = this.#open.getStore();
    // What a transaction started may outlive it.
    return open?.isOver === false ? open : undefined;
  }

  /** Writes something beside the records, which nobody reads. */
  note(): Promise<void> {
    return this.transact(() => this.#pass("a note"));
  }

  override async read<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
  ): Promise<T | undefined> {
    await this.#pass();
    return super.read(key, readBody);
  }

  override swap(
    key: RecordKey,
    revision: number,
    body: unknown,
  ): Promise<number | undefined> {
    return this.transact(async () => {
      await this.#pass();
      const written = await super.swap(key, revision, body);
      if (written !== undefined) await this.#pass(key.join("/"));
      return written;
    });
  }

  override change<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    change: (before: T | undefined) => unknown,
  ): Promise<void> {
    return this.transact(async () => {
      await this.#pass();
      const known: unknown[] = [];
      await super.change<T>(key, readBody, (before) => {
        const after = change(before);
        known.push(before, after);
        return after;
      });
      const [after, before] = known.toReversed();
      if (after !== before) await this.#pass(key.join("/"));
    });
  }

  override remove(key: RecordKey): Promise<void> {
    return this.transact(async () => {
      await super.remove(key);
      await this.#pass(key.join("/"));
    });
  }

  override async list(
    prefix: RecordKey,
    length?: number,
  ): Promise<readonly (readonly string[])[]> {
    await this.#pass();
    return super.list(prefix, length);
  }

  /** Takes as long as the disk does; `written` is what the open transaction has written. */
  #pass(written?: string): Promise<void> {
    const open = this.#current;
    if (open === undefined) return this.#life.wait(slowest);
    if (written !== undefined) open.written.push(written);
    return this.#life.pass(slowest);
  }
}
