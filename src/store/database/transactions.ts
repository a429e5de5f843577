import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { failure } from "../../errors/index.ts";
import type { Schema } from "./schema.ts";

/** When a transaction counts: `durable` ones survive a power cut once they return, `soon` ones a few moments later. */
export type Durability = "durable" | "soon";

/** Statements that begin and end a transaction. */
interface Statements {
  readonly begin: Readonly<Record<Durability, readonly string[]>>;
  readonly end: readonly string[];
}

interface Open {
  readonly queries: Kysely<Schema>;
  readonly then: (() => void)[];
  isOver: boolean;
}

/** Milliseconds for which a transaction gives way to those of other processes, and between two attempts. */
const patience = 5_000;
const longestPause = 20;

/** Another process changed what this transaction is about: it is taken back, and done again. */
export class Outpaced extends Error {}

/**
 * The transactions of one database. Everything that is asked in the course of one is a part of it, by whomever: a decision
 * with its line of the audit log is whole, or it was never made. What is waited for in one must not wait for the database
 * outside it, or for anything slow, since others wait.
 */
export class Transactions {
  readonly #queries: Kysely<Schema>;
  readonly #statements: Statements;
  readonly #isOutpaced: (error: unknown) => boolean;
  readonly #open = new AsyncLocalStorage<Open>();

  constructor(
    queries: Kysely<Schema>,
    statements: Statements,
    isOutpaced: (error: unknown) => boolean,
  ) {
    this.#queries = queries;
    this.#statements = statements;
    this.#isOutpaced = isOutpaced;
  }

  /** Asks the database, in the open transaction where there is one. */
  get queries(): Kysely<Schema> {
    return this.#current?.queries ?? this.#queries;
  }

  /** Runs `work` in the open transaction, or in one of its own; then it may run more than once. */
  async run<T>(
    work: () => Promise<T>,
    durability: Durability = "durable",
  ): Promise<T> {
    if (this.#current !== undefined) return work();
    const end = performance.now() + patience;
    for (;;)
      try {
        return await this.#runOnce(work, durability);
      } catch (error) {
        const isOutpaced = error instanceof Outpaced || this.#isOutpaced(error);
        if (!isOutpaced) throw error;
        if (performance.now() > end)
          throw failure("too-busy", "processes that write at once");
        await setTimeout(Math.random() * longestPause);
      }
  }

  /** Calls `then` once what is being written has counted: at once where no transaction is open. */
  whenCommitted(then: () => void): void {
    const open = this.#current;
    if (open === undefined) then();
    else open.then.push(then);
  }

  get #current(): Open | undefined {
    const open = this.#open.getStore();
    // What a transaction started may outlive it.
    return open?.isOver === false ? open : undefined;
  }

  async #runOnce<T>(
    work: () => Promise<T>,
    durability: Durability,
  ): Promise<T> {
    const { begin, end } = this.#statements;
    const then: Open["then"] = [];
    const result = await this.#queries.connection().execute(async (queries) => {
      const open = { queries, then, isOver: false };
      try {
        for (const text of begin[durability])
          await sql.raw(text).execute(queries);
        const result = await this.#open.run(open, work);
        open.isOver = true;
        await sql`COMMIT`.execute(queries);
        return result;
      } catch (error) {
        open.isOver = true;
        // A commit that failed may have taken it back already.
        await sql`ROLLBACK`.execute(queries).catch(() => undefined);
        throw error;
      } finally {
        for (const text of end) await sql.raw(text).execute(queries);
      }
    });
    for (const one of then) one();
    return result;
  }
}

/** An open database. */
export interface Database {
  readonly transactions: Transactions;
  /** The records that other processes may have changed since the last call, which are none at most times; undefined where it may be any. */
  readonly findChanges: () => Promise<ReadonlySet<string> | undefined>;
  /** Bytes that it takes of the storage directory's disk. */
  measure(): Promise<number>;
  /** Why it does not answer; undefined while it does. */
  readonly problem: string | undefined;
  /** Nothing can be asked from then on. */
  close(): Promise<void>;
}
