import type { RecordKey } from "./record-tables.ts";

/** When a transaction counts: `durable` ones survive a power cut once they return, `soon` ones a few moments later. */
export type Durability = "durable" | "soon";

/** Parses a body; `revision` differs after each change of the record, and is never 0. */
export type ReadBody<T> = (body: unknown, revision: number) => T;

/**
 * Small JSON documents by key, for all processes that work on a store at once.
 *
 * Trust is never read from a damaged record. Every operation throws
 * record-unreadable for a record that exists and cannot be read or
 * parsed. Absence is reported only where there is nothing. A damaged record
 * that can be rebuilt (`isRebuildable`) counts as absent.
 */
export interface RecordStore {
  /** Runs `work` as one transaction: all that it writes counts at once, or nothing does. It may run more than once. */
  transact<T>(work: () => Promise<T>, durability?: Durability): Promise<T>;
  /** Calls `then` once the open transaction counts; at once where none is open. */
  whenCommitted(then: () => void): void;
  /** Notices what other processes wrote, and tells those who remember it. */
  look(): Promise<void>;
  /** Returns undefined when there is none. */
  read<T>(key: RecordKey, readBody: ReadBody<T>): Promise<T | undefined>;
  /**
   * Writes a record that is of this revision still, 0 where there is none. Returns its new revision; undefined, and
   * nothing is written, where another one was first. Durable on return.
   */
  swap(
    key: RecordKey,
    revision: number,
    body: unknown,
  ): Promise<number | undefined>;
  /**
   * Writes what `change` makes of the body as it is, and leaves the record alone when that is the same object. No
   * change of another process is lost; `change` may be called more than once. Durable on return.
   */
  change<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    change: (before: T | undefined) => unknown,
  ): Promise<void>;
  refuse(key: RecordKey, problem: string): never;
  /** Succeeds also when there is none. */
  remove(key: RecordKey): Promise<void>;
  /** The key of every record, also of those that cannot be read. */
  listAll(): AsyncIterable<RecordKey>;
  /** Bytes of storage that all records take. */
  measure(): Promise<number>;
  /** The next `length` parts of the keys that begin so, all of them by default; each once, in order. */
  list(
    prefix: RecordKey,
    length?: number,
  ): Promise<readonly (readonly string[])[]>;
}
