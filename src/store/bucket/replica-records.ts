import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import { isBucketFailure } from "../../errors/index.ts";
import { isRebuildable, isTrust, type RecordKey } from "../layout.ts";
import type { ReadBody, RecordStore } from "../records/record-store.ts";
import { openSettled } from "../records/seal.ts";
import type { BucketRecords, SeenRecords } from "./bucket-records.ts";

interface ReplicaParts {
  readonly shared: BucketRecords;
  readonly seen: SeenRecords;
  /**
   * Records in the replica's own directory: what `seen` keeps, and
   * rebuildable records.
   */
  readonly local: RecordStore;
  /** Records in which replicas compare what each computes for itself. */
  readonly compared: Pick<RecordStore, "create">;
  /** Another replica made something else of the same. */
  readonly onDiffering: (key: RecordKey, ours: unknown, first: unknown) => void;
  readonly watch: { readonly epoch: number; bump(): Promise<void> };
  /** Monotonic, in milliseconds. */
  readonly now?: () => number;
}

interface Confirmed {
  readonly epoch: number;
  readonly isAbsent: boolean;
  /** End on the parts' clock. */
  readonly until: number;
}

/** Records of trust whose last look is remembered. */
const mostConfirmed = 20_000;
/**
 * Milliseconds after which they are read again in the same epoch: the replica
 * that decided may have been killed before it announced that.
 */
const confirmedFor = 30_000;

/**
 * Records whose truth is the bucket; the directory of this replica has what it
 * saw of them. A record of trust is written in the bucket or not at all.
 * While the bucket fails, records seen before count, absence included; any
 * other read throws. Rebuildable records belong to this replica alone. They are
 * compared with those of the first replica.
 */
export class ReplicaRecords implements RecordStore {
  readonly #parts: ReplicaParts;
  readonly #now: () => number;
  readonly #confirmed = new LRUCache<string, Confirmed>({ max: mostConfirmed });

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  /** Other machines write: what is remembered is looked at again by its age. */
  look(): Promise<void> {
    return Promise.resolve();
  }

  async read<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    { refresh } = { refresh: false },
  ): Promise<T | undefined> {
    const { local, shared, watch } = this.#parts;
    if (isRebuildable(key)) return local.read(key, readBody);
    const { epoch } = watch;
    const last = this.#confirmed.get(key.join("/"));
    const now = this.#now();
    const isConfirmed = last?.epoch === epoch && now < last.until;
    if (!refresh && isTrust(key) && isConfirmed) {
      const recalled = await this.#recall(key, readBody);
      if (recalled !== undefined || last.isAbsent) return recalled;
    }
    try {
      const read = await shared.read(key, readBody);
      const until = now + confirmedFor;
      this.#confirm(key, { epoch, isAbsent: read === undefined, until });
      return read;
    } catch (error) {
      if (!isBucketFailure(error)) throw error;
      const recalled = await this.#recall(key, readBody);
      const isAbsent = !refresh && last?.isAbsent === true;
      if (recalled === undefined && !isAbsent) throw error;
      return recalled;
    }
  }

  async create<T>(
    key: RecordKey,
    body: unknown,
    readBody: ReadBody<T>,
  ): Promise<T> {
    const { local, shared } = this.#parts;
    if (!isRebuildable(key))
      return this.#changing(key, () => shared.create(key, body, readBody));
    const ours = await local.create(key, body, readBody);
    void this.#compare(key, ours, readBody);
    return ours;
  }

  /** Never rejects: it is for comparison alone. */
  async #compare<T>(
    key: RecordKey,
    ours: T,
    readBody: ReadBody<T>,
  ): Promise<void> {
    const { compared, onDiffering } = this.#parts;
    try {
      const first = await compared.create(key, ours, readBody);
      if (!isDeepStrictEqual(first, ours)) onDiffering(key, ours, first);
    } catch {
      // While the bucket fails there is nothing to compare with.
    }
  }

  async change<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    change: (before: T | undefined) => unknown,
  ): Promise<void> {
    const { local, shared, watch } = this.#parts;
    if (isRebuildable(key)) return local.change(key, readBody, change);
    let isChanged = false as boolean;
    await this.#changing(key, () =>
      shared.change(key, readBody, (before) => {
        const after = change(before);
        isChanged = after !== before;
        return after;
      }),
    );
    // A repeated decision may be one that was not announced.
    if (isTrust(key) && (isChanged || isDecision(key))) await watch.bump();
  }

  refuse(key: RecordKey, problem: string): never {
    this.#parts.shared.refuse(key, problem);
  }

  async remove(key: RecordKey): Promise<void> {
    const { local, shared } = this.#parts;
    if (!isRebuildable(key))
      await this.#changing(key, () => shared.remove(key));
    await local.remove(key);
  }

  listAll(): AsyncIterable<RecordKey> {
    return this.#parts.local.listAll();
  }

  measure(): Promise<number> {
    return this.#parts.local.measure();
  }

  list(prefix: RecordKey): Promise<readonly string[]> {
    return this.#ask(prefix, (records) => records.list(prefix));
  }

  folders(prefix: RecordKey): Promise<readonly string[]> {
    return this.#ask(prefix, (records) => records.folders(prefix));
  }

  /** The bucket, or while it fails what was seen of it. */
  async #ask<T>(
    key: RecordKey,
    ask: (records: RecordStore) => Promise<T>,
  ): Promise<T> {
    const { local, shared } = this.#parts;
    if (isRebuildable(key)) return ask(local);
    try {
      return await ask(shared);
    } catch (error) {
      if (!isBucketFailure(error)) throw error;
      return ask(local);
    }
  }

  async #recall<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
  ): Promise<T | undefined> {
    const { seen, shared } = this.#parts;
    const sealed = await seen.recall(key);
    if (sealed === undefined) return undefined;
    return openSettled({ kind: "good", sealed }, readBody, (problem, cause) =>
      shared.refuse(key, problem, cause),
    );
  }

  #confirm(key: RecordKey, confirmed: Confirmed): void {
    this.#confirmed.set(key.join("/"), confirmed);
  }

  async #changing<T>(key: RecordKey, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      const last = this.#confirmed.get(key.join("/"));
      // The current record is read again.
      if (last !== undefined) this.#confirm(key, { ...last, epoch: NaN });
    }
  }
}

function isDecision([, kind]: RecordKey): boolean {
  return kind === "decisions";
}
