import { lstat, readdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { KeyedLimit } from "../../concurrency/keyed-limit.ts";
import { failure, type Failure } from "../../errors/index.ts";
import {
  isRebuildable,
  type RecordKey,
  recordPaths,
  type StoreLayout,
} from "../layout.ts";
import { listFolder, listRecords, restoreRecord } from "./listing.ts";
import { replaceRecordFile } from "./record-file.ts";
import {
  copiesToHeal,
  type Copy,
  openSettled,
  readCopies,
  replaceCopies,
  settle,
  type Settled,
} from "./record-copies.ts";
import type {
  ReadBody,
  RecordInspection,
  RecordStore,
} from "./record-store.ts";
import { nextSealed, type Sealed } from "./seal.ts";
import { classifyFileFailure } from "../file-failure.ts";

/**
 * Events that the store reports to the wiring, without waiting. Files are named
 * below the storage directory.
 */
interface RecordEvents {
  /**
   * Hears of a damaged copy; `healed` is true when it was restored from the
   * other one.
   */
  readonly onDamaged: (file: string, problem: string, healed: boolean) => void;
  /** No sound copy is left of a record, and the request is refused. */
  readonly onUnreadable: (error: Failure<"record-unreadable">) => void;
  /** Hears of a damaged record that is ignored because it can be rebuilt. */
  readonly onPassedOver: (file: string, problem: string) => void;
}

/** Records that change at once, each with an open file. */
const mostChanges = 16;

const untold: RecordEvents = {
  onDamaged: () => undefined,
  onUnreadable: () => undefined,
  onPassedOver: () => undefined,
};

/**
 * Records in a directory. Trust and decisions lie in two files in different
 * folders, with a revision in the seal. The newer good one counts, and the
 * other one is restored from it. Changes of one record follow one another.
 */
export class DiskRecords implements RecordStore {
  readonly #layout: StoreLayout;
  readonly #events: RecordEvents;
  readonly #turns = new KeyedLimit(mostChanges, 1);

  constructor(layout: StoreLayout, events: Partial<RecordEvents> = {}) {
    this.#layout = layout;
    this.#events = { ...untold, ...events };
  }

  async read<T>(key: RecordKey, readBody: ReadBody<T>): Promise<T | undefined> {
    const copies = await this.#look(key);
    const found = settle(copies);
    // Copies that differ may be half way through a change.
    const settled =
      found.kind === "good" && copiesToHeal(copies, found.sealed).length > 0
        ? await this.#heal(key, found)
        : found;
    return this.#open(key, settled, readBody);
  }

  async create<T>(
    key: RecordKey,
    body: unknown,
    readBody: ReadBody<T>,
  ): Promise<T> {
    return this.#inTurn(key, async () => {
      const first = this.#open(key, settle(await this.#look(key)), readBody);
      if (first !== undefined) return first;
      const sealed = nextSealed(key, undefined, body);
      await replaceCopies(this.#layout, key, sealed);
      const kept = this.#open(key, { kind: "good", sealed }, readBody);
      if (kept === undefined) throw new Error(`${key.join("/")} is unreadable`);
      return kept;
    });
  }

  async change<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    change: (before: T | undefined) => unknown,
  ): Promise<void> {
    await this.#inTurn(key, async () => {
      const settled = settle(await this.#look(key));
      const before = this.#open(key, settled, readBody);
      const after = change(before);
      if (after === before) return;
      const sealed = settled.kind === "good" ? settled.sealed : undefined;
      await replaceCopies(this.#layout, key, nextSealed(key, sealed, after));
    });
  }

  async write(key: RecordKey, body: unknown): Promise<void> {
    if (!isRebuildable(key))
      throw new RangeError(`not to be written over: ${key.join("/")}`);
    const sealed = nextSealed(key, undefined, body);
    await replaceCopies(this.#layout, key, sealed);
  }

  refuse(key: RecordKey, problem: string, cause?: unknown): never {
    const [path = ""] = recordPaths(this.#layout, key);
    const error = failure(
      "record-unreadable",
      this.#name(path),
      problem,
      restoreRecord,
      { cause },
    );
    this.#events.onUnreadable(error);
    throw error;
  }

  async remove(key: RecordKey): Promise<void> {
    await this.#inTurn(key, async () => {
      for (const path of recordPaths(this.#layout, key))
        await rm(path, { force: true, recursive: true });
    });
  }

  async inspect(
    key: RecordKey,
    { repair }: { readonly repair: boolean },
  ): Promise<RecordInspection> {
    const copies = await this.#look(key);
    const found = settle(copies);
    const problems = copies.flatMap(({ path, state }) =>
      state.kind === "bad" ? [`${this.#name(path)}: ${state.problem}`] : [],
    );
    if (found.kind === "bad")
      return { problems: [found.problem], readable: false };
    if (repair && found.kind === "good") await this.#heal(key, found);
    return { problems, readable: true };
  }

  listAll(): AsyncGenerator<RecordKey> {
    return listRecords(this.#layout);
  }

  measure(): Promise<number> {
    return measureRecords(this.#layout);
  }

  async sizeOf(key: RecordKey): Promise<number> {
    const sizes = await Promise.all(
      recordPaths(this.#layout, key).map(measureFile),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  async list(prefix: RecordKey): Promise<readonly string[]> {
    return (await listFolder(this.#layout, prefix)).records;
  }

  async folders(prefix: RecordKey): Promise<readonly string[]> {
    return (await listFolder(this.#layout, prefix)).folders;
  }

  #look(key: RecordKey): Promise<readonly Copy[]> {
    return readCopies(key, recordPaths(this.#layout, key));
  }

  /** Parses a record. An invalid one is skipped only if it can be rebuilt. */
  #open<T>(
    key: RecordKey,
    settled: Settled,
    readBody: ReadBody<T>,
  ): T | undefined {
    return openSettled(settled, readBody, (problem, cause) => {
      if (!isRebuildable(key)) return this.refuse(key, problem, cause);
      const [path = ""] = recordPaths(this.#layout, key);
      this.#events.onPassedOver(this.#name(path), problem);
    });
  }

  /**
   * Repairs every copy from the newest good one. A failed write is reported,
   * and the record is read anyway.
   */
  async #heal(key: RecordKey, found: Settled): Promise<Settled> {
    try {
      return await this.#inTurn(key, async () => {
        const copies = await this.#look(key);
        const settled = settle(copies);
        if (settled.kind === "good")
          for (const copy of copiesToHeal(copies, settled.sealed))
            await this.#healCopy(key, copy, settled.sealed);
        return settled;
      });
    } catch {
      const [path = ""] = recordPaths(this.#layout, key);
      this.#events.onDamaged(this.#name(path), "it could not be healed", false);
      return found;
    }
  }

  async #healCopy(
    key: RecordKey,
    { path, state }: Copy,
    sealed: Sealed,
  ): Promise<void> {
    const problem =
      state.kind === "bad" ? state.problem : `it was ${describe(state)}`;
    const tell = (healed: boolean) =>
      this.#events.onDamaged(this.#name(path), problem, healed);
    try {
      await replaceRecordFile(this.#layout, key, path, sealed);
      tell(true);
    } catch {
      tell(false);
    }
  }

  #inTurn<T>(key: RecordKey, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(key.join("/"), work);
  }

  #name(path: string): string {
    return relative(this.#layout.directory, path);
  }
}

function describe(state: Copy["state"]): string {
  return state.kind === "missing" ? "missing" : "an older one";
}

/** Unit of stat(2) in bytes, independent of the file system's own blocks. */
const block = 512;
/** Looks at files under way at once; more would take the threads from requests. */
const atOnce = 4;

/** Bytes of disk that everything in the folders of records takes; what leaves meanwhile takes nothing. */
async function measureRecords({
  records,
  recordCopies,
}: StoreLayout): Promise<number> {
  return (await measureFolder(records)) + (await measureFolder(recordCopies));
}

/** A small file takes a whole block, and one that the file system keeps beside its name takes its own bytes. */
async function measureFile(path: string): Promise<number> {
  try {
    const { size, blocks } = await lstat(path);
    return Math.max(size, blocks * block);
  } catch (error) {
    return zeroIfGone(error);
  }
}

async function measureFolder(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(
    (error: unknown) => {
      zeroIfGone(error);
      return [];
    },
  );
  let bytes = 0;
  const files: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await measureFolder(path);
    else files.push(path);
  }
  for (let from = 0; from < files.length; from += atOnce) {
    const some = files.slice(from, from + atOnce).map(measureFile);
    for (const size of await Promise.all(some)) bytes += size;
  }
  return bytes;
}

function zeroIfGone(error: unknown): 0 {
  const failure = classifyFileFailure(error);
  if (failure !== "missing" && failure !== "broken") throw error;
  return 0;
}
