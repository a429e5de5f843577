import { AsyncLocalStorage } from "node:async_hooks";
import { KeyedLimit } from "../../src/concurrency/keyed-limit.ts";
import type { StoreLayout } from "../../src/store/layout.ts";
import {
  RecordStore,
  type ReadBody,
  type RecordKey,
} from "../../src/store/records/record-store.ts";
import { openDatabase } from "../../src/store/database/database.ts";
import type { Database } from "../../src/store/database/transactions.ts";
import { AuditLog } from "../../src/store/database/audit-log.ts";
import type { AuditEntry } from "../../src/telemetry/audit-entry.ts";
import { auditParts } from "../store/stores.ts";

/** Fate of one write: refused by the system, or the process dies before or after it. */
export type Fate = "fails" | "dies before" | "dies after";

class Killed extends Error {}

/** Durable writes of one process, to its records and its audit log, in their order. */
export class Writes {
  /** Such as `first_contacts/…`, `audit first-seen`, and `commit` behind those of one transaction. */
  readonly names: string[] = [];
  #isDead = false;
  #chosen: ((name: string) => Fate | undefined) | undefined;
  #held: ((name: string) => Promise<void> | undefined) | undefined;
  #code = "EACCES";

  /** Lets every write that is chosen fail so from now on; none without `choose`. */
  let(choose?: (name: string) => Fate | undefined, code = "EACCES"): void {
    this.#chosen = choose;
    this.#code = code;
  }

  /** A process that is dead reads and writes nothing. */
  expectAlive(): void {
    if (this.#isDead) throw new Killed("the process was killed");
  }

  /** Holds the transaction of the next write of that name, before it begins; `reached` once it is held. */
  hold(isHeld: (name: string) => boolean) {
    const reached = Promise.withResolvers<void>();
    const freed = Promise.withResolvers<void>();
    this.#held = (name) => {
      if (!isHeld(name)) return undefined;
      this.#held = undefined;
      reached.resolve();
      return freed.promise;
    };
    return { reached: reached.promise, free: () => freed.resolve() };
  }

  /** Called where a write is about to happen; returns what is called once it has. */
  begin(name: string): () => void {
    const until = this.#held?.(name);
    if (until !== undefined) throw new Waiting(until);
    this.expectAlive();
    const fate = this.#chosen?.(name);
    if (fate === "fails") {
      const code = this.#code;
      const refused = new Error(`${code}: as the test says, write '/x'`);
      throw Object.assign(refused, { code, syscall: "write" });
    }
    this.#isDead = fate === "dies before";
    this.expectAlive();
    this.names.push(name);
    return () => {
      this.#isDead ||= fate === "dies after";
      this.expectAlive();
    };
  }
}

class Waiting extends Error {
  readonly until: Promise<void>;

  constructor(until: Promise<void>) {
    super("held");
    this.until = until;
  }
}

/** Turns of transactions by directory: one process would wait for another one's without letting it end. */
const turnsOf = new Map<string, KeyedLimit>();

/** Records whose writes may fail, the one or the other or all of a transaction. */
export class FailingRecords extends RecordStore {
  readonly database: Database;
  readonly #writes: Writes;
  readonly #turns: KeyedLimit;
  readonly #names = new AsyncLocalStorage<string[]>();

  constructor(layout: StoreLayout, writes: Writes) {
    const database = openDatabase(layout);
    super(database);
    this.database = database;
    this.#writes = writes;
    const { directory } = layout;
    this.#turns = turnsOf.get(directory) ?? new KeyedLimit(1, 1);
    turnsOf.set(directory, this.#turns);
  }

  override async transact<T>(work: () => Promise<T>): Promise<T> {
    this.#writes.expectAlive();
    if (this.#names.getStore() !== undefined) return super.transact(work);
    let end: () => void = () => undefined;
    const whole = async () => {
      const names: string[] = [];
      const result = await this.#names.run(names, work);
      if (names.length > 0) end = this.#writes.begin("commit");
      return result;
    };
    for (;;)
      try {
        const result = await this.#turns.run("", () => super.transact(whole));
        end();
        return result;
      } catch (error) {
        if (!(error instanceof Waiting)) throw error;
        await error.until;
      }
  }

  /** Called before each write of a transaction. */
  note(name: string): void {
    this.#names.getStore()?.push(name);
    this.#writes.begin(name)();
  }

  override async read<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
  ): Promise<T | undefined> {
    this.#writes.expectAlive();
    return super.read(key, readBody);
  }

  override change<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    change: (before: T | undefined) => unknown,
  ): Promise<void> {
    return super.change(key, readBody, (before) => {
      const after = change(before);
      if (after !== before) this.note(key.join("/"));
      return after;
    });
  }

  override swap(
    key: RecordKey,
    revision: number,
    body: unknown,
  ): Promise<number | undefined> {
    return this.transact(async () => {
      const written = await super.swap(key, revision, body);
      if (written !== undefined) this.note(key.join("/"));
      return written;
    });
  }

  override async remove(key: RecordKey): Promise<void> {
    await this.transact(async () => {
      this.note(`no ${key.join("/")}`);
      await super.remove(key);
    });
  }
}

/** An audit log of the same database whose durable lines may fail. */
export class FailingAudit extends AuditLog {
  readonly #records: FailingRecords;

  constructor(layout: StoreLayout, records: FailingRecords) {
    super({ ...auditParts(layout), database: records.database });
    this.#records = records;
  }

  override async record(
    entry: AuditEntry,
    options: { readonly durable: boolean },
  ): Promise<void> {
    if (!options.durable) return super.record(entry, options);
    await this.#records.transact(async () => {
      this.#records.note(`audit ${entry.event}`);
      await super.record(entry, options);
    });
  }
}
