import { randomInt } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { failure, type Failure } from "../../errors/index.ts";
import { classifyFileFailure, describeFailure } from "../file-failure.ts";
import {
  type RecordRow,
  type RecordTable,
  recordTables,
  type Schema,
} from "../database/schema.ts";
import {
  type Database,
  type Durability,
  Outpaced,
} from "../database/transactions.ts";

/** A record's table, and the values of its key. */
export type RecordKey = readonly [table: RecordTable, ...parts: string[]];

/** Parses a body; `revision` differs after each change of the record, and is never 0. */
export type ReadBody<T> = (body: unknown, revision: number) => T;

interface RecordEvents {
  /** A record cannot be used, and the request is refused. */
  readonly onUnreadable?: (error: Failure<"record-unreadable">) => void;
  /** A damaged record is ignored because it can be rebuilt. */
  readonly onPassedOver?: (record: string, problem: string) => void;
}

/** Hears the names of records that other processes may have changed; undefined where it may be any of them. */
type ChangeListener = (changed: ReadonlySet<string> | undefined) => void;

/** Tables that are written with the records. */
type Derived = "changes" | "packages";

type Row = Pick<RecordRow, "revision" | "body">;

/** First revisions are below this, so that a record can be changed a billion times. */
const mostFirst = 2 ** 30;

/**
 * Small JSON documents by key, as rows, for all processes that work on a store at once. Each change is a transaction, or
 * a part of the one that is open.
 *
 * Trust is never read from a damaged record. Every operation throws record-unreadable for a record that exists and cannot
 * be read or parsed. Absence is reported only where there is nothing. A damaged record that can be rebuilt
 * (`isRebuildable`) counts as absent.
 */
export class RecordStore {
  readonly #database: Database;
  readonly #events: RecordEvents;
  readonly #listeners: ChangeListener[] = [];

  constructor(database: Database, events: RecordEvents = {}) {
    this.#database = database;
    this.#events = events;
  }

  listen(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  /** Notices what other processes wrote, and tells those who remember it. */
  async look(): Promise<void> {
    const asked = this.#database.findChanges();
    const changed = await this.#reading("changes", asked);
    // Other tables have changes, too.
    if (changed?.size === 0) return;
    for (const listener of this.#listeners) listener(changed);
  }

  /** Returns undefined when there is none. */
  async read<T>(key: RecordKey, readBody: ReadBody<T>): Promise<T | undefined> {
    return this.#open(key, await this.#find(key), readBody);
  }

  /** Runs `work` as one transaction: all that it writes counts at once, or nothing does. It may run more than once. */
  transact<T>(
    work: () => Promise<T>,
    durability: Durability = "durable",
  ): Promise<T> {
    return this.#database.transactions.run(work, durability);
  }

  /** Calls `then` once the open transaction counts; at once where none is open. */
  whenCommitted(then: () => void): void {
    this.#database.transactions.whenCommitted(then);
  }

  /**
   * Writes a record that is of this revision still, 0 where there is none. Returns its new revision; undefined, and
   * nothing is written, where another one was first.
   */
  swap(
    key: RecordKey,
    revision: number,
    body: unknown,
    durability: Durability = "durable",
  ): Promise<number | undefined> {
    return this.transact(() => this.#write(key, revision, body), durability);
  }

  /**
   * Writes what `change` makes of the body as it is, and leaves the record alone when that is the same object. No
   * change of another process is lost; `change` may be called more than once. Durable on return.
   */
  change<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    change: (before: T | undefined) => unknown,
  ): Promise<void> {
    return this.transact(async () => {
      const found = await this.#find(key);
      const before = this.#open(key, found, readBody);
      const after = change(before);
      if (after === before) return;
      const written = await this.#write(key, found?.revision ?? 0, after);
      if (written === undefined) throw new Outpaced(key.join("/"));
    });
  }

  /** Asks the table of packages, in the open transaction where there is one. */
  async ask<T>(question: (queries: Kysely<Schema>) => Promise<T>): Promise<T> {
    const { queries } = this.#database.transactions;
    return this.#reading("packages", question(queries));
  }

  /** Succeeds also when there is none. */
  async remove(key: RecordKey): Promise<void> {
    await this.transact(() =>
      this.#database.transactions.queries
        .deleteFrom(key[0])
        .where((where) => where.and(valuesOf(key)))
        .execute(),
    );
  }

  /** The key of every record, also of those that cannot be read. */
  async *listAll(): AsyncGenerator<RecordKey> {
    for (const table of tableNames)
      for (const parts of await this.list([table])) yield [table, ...parts];
  }

  /** Bytes of storage that all records take. */
  measure(): Promise<number> {
    return this.#database.measure();
  }

  /** The next `length` parts of the keys that begin so, all of them by default; each once, in order. */
  async list(
    [table, ...prefix]: RecordKey,
    length = Infinity,
  ): Promise<readonly (readonly string[])[]> {
    const columns = recordTables[table].slice(
      ...([prefix.length, prefix.length + length] as const),
    );
    const rows = await this.#reading(
      [table, ...prefix],
      this.#database.transactions.queries
        .selectFrom(table)
        .select(columns)
        .distinct()
        .where((where) => where.and(valuesOf([table, ...prefix])))
        .orderBy(together(columns))
        .execute(),
    );
    return rows.map((row) => columns.map((column) => row[column]));
  }

  #find(key: RecordKey): Promise<Row | undefined> {
    return this.#reading(
      key,
      this.#database.transactions.queries
        .selectFrom(key[0])
        .select(["revision", "body"])
        .where((where) => where.and(wholeOf(key)))
        .executeTakeFirst(),
    );
  }

  async #write(
    key: RecordKey,
    before: number,
    value: unknown,
  ): Promise<number | undefined> {
    const [table] = key;
    const own = wholeOf(key);
    const body = JSON.stringify(value);
    // A record that was removed and made again is not the one before.
    const revision = before === 0 ? randomInt(1, mostFirst) : before + 1;
    const { queries } = this.#database.transactions;
    const written =
      before === 0
        ? await queries
            .insertInto(table)
            .values({ ...own, revision, body } as RecordRow)
            .onConflict((conflict) =>
              conflict.columns(recordTables[table]).doNothing(),
            )
            .returning("revision")
            .executeTakeFirst()
        : await queries
            .updateTable(table)
            .set({ revision, body })
            .where((where) => where.and({ ...own, revision: before }))
            .returning("revision")
            .executeTakeFirst();
    return written?.revision;
  }

  /** Parses a record. An invalid one is skipped only if it can be rebuilt. */
  #open<T>(
    key: RecordKey,
    row: Row | undefined,
    readBody: ReadBody<T>,
  ): T | undefined {
    if (row === undefined) return undefined;
    try {
      return readBody(JSON.parse(row.body), row.revision);
    } catch (error) {
      const problem = "it is not in the form of its kind";
      if (!isRebuildable(key)) return this.#refuse(key, problem, error);
      this.#events.onPassedOver?.(key.join("/"), problem);
      return undefined;
    }
  }

  #refuse(key: RecordKey | Derived, problem: string, cause: unknown): never {
    const name = typeof key === "string" ? key : key.join("/");
    const error = failure("record-unreadable", name, problem, { cause });
    this.#events.onUnreadable?.(error);
    throw error;
  }

  /** What cannot be read is unknown, not absent; a passing shortage says nothing of it. */
  async #reading<T>(key: RecordKey | Derived, asked: Promise<T>): Promise<T> {
    try {
      return await asked;
    } catch (error) {
      if (classifyFileFailure(error) !== "broken") throw error;
      return this.#refuse(key, describeFailure(error), error);
    }
  }
}

const keyPart = /^[A-Za-z0-9][A-Za-z0-9._:+/-]*$/;

const tableNames = Object.keys(recordTables) as readonly RecordTable[];

function together(columns: readonly string[]) {
  return sql.join(columns.map((column) => sql.ref(column)));
}

/** Columns of a key, or of its first parts. Throws RangeError for what is no part of one. */
function valuesOf([table, ...parts]: RecordKey): Partial<RecordRow> {
  const values: Partial<Record<string, string>> = {};
  for (const [at, part] of parts.entries()) {
    const column = recordTables[table][at];
    if (column === undefined || !keyPart.test(part))
      throw new RangeError(`not a part of a key of ${table}: ${part}`);
    values[column] = part;
  }
  return values;
}

function wholeOf(key: RecordKey): Partial<RecordRow> {
  const [table, ...parts] = key;
  if (parts.length !== recordTables[table].length)
    throw new RangeError(`not a key of ${table}: ${parts.join("/")}`);
  return valuesOf(key);
}

/** True for records that can be made again: the hashes of archives, and the key of their URLs. All others are trust and decisions. */
function isRebuildable([table]: RecordKey): boolean {
  return ["package_hashes", "wrong_archives", "secrets"].includes(table);
}
