import { randomInt } from "node:crypto";
import { failure, type Failure } from "../../errors/index.ts";
import { classifyFileFailure, describeFailure } from "../file-failure.ts";
import { checkParts, isRebuildable, type RecordKey } from "../layout.ts";
import type {
  Durability,
  ReadBody,
  RecordStore,
} from "../records/record-store.ts";
import type { RecordTable } from "./schema.ts";
import { type Database, Outpaced } from "./transactions.ts";

/** Events that the store reports to the wiring, without waiting. */
interface RecordEvents {
  /** A record cannot be used, and the request is refused. */
  readonly onUnreadable: (error: Failure<"record-unreadable">) => void;
  /** Hears of a damaged record that is ignored because it can be rebuilt. */
  readonly onPassedOver: (record: string, problem: string) => void;
}

/** Hears the names of records that other processes may have changed; undefined where it may be any of them. */
type ChangeListener = (changed: ReadonlySet<string> | undefined) => void;

type Row = Pick<RecordTable, "revision" | "body">;

/** First revisions are below this, so that a record can be changed a billion times. */
const mostFirst = 2 ** 30;

/** Keys of one page of the list of all. */
const pageSize = 1_000;

const restore = "restore provender.db from a backup";

const untold: RecordEvents = {
  onUnreadable: () => undefined,
  onPassedOver: () => undefined,
};

/** Records as rows; each change is a transaction, or a part of the one that is open. */
export class DatabaseRecords implements RecordStore {
  readonly #database: Database;
  readonly #events: RecordEvents;
  readonly #listeners: ChangeListener[] = [];

  constructor(database: Database, events: Partial<RecordEvents> = {}) {
    this.#database = database;
    this.#events = { ...untold, ...events };
  }

  /** Tells this listener from now on. */
  listen(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  async look(): Promise<void> {
    const { findChanges } = this.#database;
    const changed = await this.#reading(["changes"], findChanges);
    // Other tables have changes, too.
    if (changed?.size === 0) return;
    for (const listener of this.#listeners) listener(changed);
  }

  async read<T>(key: RecordKey, readBody: ReadBody<T>): Promise<T | undefined> {
    return this.#open(key, await this.#find(key), readBody);
  }

  transact<T>(
    work: () => Promise<T>,
    durability: Durability = "durable",
  ): Promise<T> {
    return this.#database.transactions.run(work, durability);
  }

  whenCommitted(then: () => void): void {
    this.#database.transactions.whenCommitted(then);
  }

  swap(
    key: RecordKey,
    revision: number,
    body: unknown,
  ): Promise<number | undefined> {
    return this.transact(() => this.#write(key, revision, body));
  }

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

  refuse(key: RecordKey, problem: string, cause?: unknown): never {
    const name = key.join("/");
    const options = { cause };
    const error = failure("record-unreadable", name, problem, restore, options);
    this.#events.onUnreadable(error);
    throw error;
  }

  async remove(key: RecordKey): Promise<void> {
    const { folder, name } = placeOf(key);
    await this.transact(() =>
      this.#queries
        .deleteFrom("records")
        .where("folder", "=", folder)
        .where("name", "=", name)
        .execute(),
    );
  }

  async *listAll(): AsyncGenerator<RecordKey> {
    let after = { folder: "", name: "" };
    for (;;) {
      const { folder, name } = after;
      const page = await this.#reading([], () =>
        this.#queries
          .selectFrom("records")
          .select(["folder", "name"])
          .where((where) =>
            where.eb(
              where.refTuple("folder", "name"),
              ">",
              where.tuple(folder, name),
            ),
          )
          .orderBy("folder")
          .orderBy("name")
          .limit(pageSize)
          .execute(),
      );
      for (const one of page) yield [...one.folder.split("/"), one.name];
      after = page.at(-1) ?? after;
      if (page.length < pageSize) return;
    }
  }

  measure(): Promise<number> {
    return this.#database.measure();
  }

  async list(prefix: RecordKey): Promise<readonly string[]> {
    checkParts(prefix);
    const rows = await this.#reading(prefix, () =>
      this.#queries
        .selectFrom("records")
        .select("name")
        .where("folder", "=", prefix.join("/"))
        .execute(),
    );
    return rows.map(({ name }) => name);
  }

  async folders(prefix: RecordKey): Promise<readonly string[]> {
    checkParts(prefix);
    const below = prefix.map((part) => `${part}/`).join("");
    const rows = await this.#reading(prefix, () =>
      this.#queries
        .selectFrom("records")
        .select("folder")
        .distinct()
        .where("folder", ">=", below)
        .where("folder", "<", `${below}\u{10ffff}`)
        .execute(),
    );
    return [
      ...new Set(
        rows.map(
          ({ folder }) => folder.slice(below.length).split("/")[0] ?? "",
        ),
      ),
    ];
  }

  get #queries() {
    return this.#database.transactions.queries;
  }

  #find(key: RecordKey): Promise<Row | undefined> {
    const { folder, name } = placeOf(key);
    return this.#reading(key, () =>
      this.#queries
        .selectFrom("records")
        .select(["revision", "body"])
        .where("folder", "=", folder)
        .where("name", "=", name)
        .executeTakeFirst(),
    );
  }

  async #write(
    key: RecordKey,
    before: number,
    value: unknown,
  ): Promise<number | undefined> {
    const { folder, name } = placeOf(key);
    const body = JSON.stringify(value);
    // A record that was removed and made again is not the one before.
    const revision = before === 0 ? randomInt(1, mostFirst) : before + 1;
    const written =
      before === 0
        ? await this.#queries
            .insertInto("records")
            .values({ folder, name, revision, body })
            .onConflict((conflict) =>
              conflict.columns(["folder", "name"]).doNothing(),
            )
            .executeTakeFirstOrThrow()
            .then((result) => result.numInsertedOrUpdatedRows)
        : await this.#queries
            .updateTable("records")
            .set({ revision, body })
            .where("folder", "=", folder)
            .where("name", "=", name)
            .where("revision", "=", before)
            .executeTakeFirstOrThrow()
            .then((result) => result.numUpdatedRows);
    return written === 1n ? revision : undefined;
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
      if (!isRebuildable(key)) return this.refuse(key, problem, error);
      this.#events.onPassedOver(key.join("/"), problem);
      return undefined;
    }
  }

  /** What cannot be read is unknown, not absent; a passing shortage says nothing of it. */
  async #reading<T>(key: RecordKey, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (classifyFileFailure(error) !== "broken") throw error;
      return this.refuse(key, describeFailure(error), error);
    }
  }
}

function placeOf(key: RecordKey) {
  checkParts(key);
  return { folder: key.slice(0, -1).join("/"), name: key.at(-1) ?? "" };
}
