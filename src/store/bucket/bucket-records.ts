import { setTimeout as pause } from "node:timers/promises";
import { failure, type Failure } from "../../errors/index.ts";
import {
  isKeyPart,
  isRebuildable,
  parseRecordObject,
  recordObject,
  recordObjects,
  type RecordKey,
} from "../layout.ts";
import type { ReadBody, RecordStore } from "../records/record-store.ts";
import {
  nextSealed,
  openSettled,
  seal,
  type Sealed,
  unseal,
} from "../records/seal.ts";
import { unchanged, type EtagForm } from "./bucket-proof.ts";
import type { Bucket, Condition } from "./bucket.ts";

/**
 * Attempts at a write that other writers precede; each waits longer, at random.
 */
const tries = 12;
/** Consecutive failures that are allowed while no other write succeeds. */
const mostFailures = 4;
/** Largest record, in bytes. */
const largest = 64 * 1024 * 1024;

/** Object of one record in the bucket. */
type Found =
  | { readonly kind: "absent" }
  | { readonly kind: "good"; readonly sealed: Sealed; readonly etag: string }
  | { readonly kind: "bad"; readonly problem: string; readonly etag: string };

/** Result of one write. */
interface Tried {
  readonly isOurs: boolean;
  /** Failure because of which the write is undecided. */
  readonly failure: Failure<"bucket-unreachable"> | undefined;
  /** ETag of what was to be replaced; undefined for nothing. */
  readonly before: string | undefined;
}

/**
 * Versions of records that this replica saw before; they outlive the process.
 */
export interface SeenRecords {
  /** The newest that was seen; undefined when none was. */
  recall(key: RecordKey): Promise<Sealed | undefined>;
  /** Keeps the newest of both. */
  remember(key: RecordKey, sealed: Sealed): Promise<void>;
}

/** No sound copy is left of a record, and the request is refused. */
type OnUnreadable = (error: Failure<"record-unreadable">) => void;

/**
 * Records as objects of a bucket, sealed as on disk. The bucket decides which
 * writer is first and which change counts; a lost reply is looked up. Every
 * method throws bucket-unreachable and bucket-refuses.
 */
export class BucketRecords implements RecordStore {
  readonly #bucket: Bucket;
  readonly #form: EtagForm;
  readonly #onUnreadable: OnUnreadable;
  readonly #seen: SeenRecords | undefined;

  constructor(
    bucket: Bucket,
    form: EtagForm,
    onUnreadable: OnUnreadable,
    seen?: SeenRecords,
  ) {
    this.#bucket = bucket;
    this.#form = form;
    this.#onUnreadable = onUnreadable;
    this.#seen = seen;
  }

  /** Other machines write: what is remembered is looked at again by its age. */
  look(): Promise<void> {
    return Promise.resolve();
  }

  async read<T>(key: RecordKey, readBody: ReadBody<T>): Promise<T | undefined> {
    return this.#open(key, await this.#find(key), readBody);
  }

  async create<T>(
    key: RecordKey,
    body: unknown,
    readBody: ReadBody<T>,
  ): Promise<T> {
    const sealed = nextSealed(key, undefined, body);
    return untilDone("create", async () => {
      const tried = await this.#tryWrite(key, sealed, { kind: "absent" });
      const kept = tried.isOurs
        ? readBody(JSON.parse(sealed.body))
        : this.#open(key, await this.#find(key), readBody);
      if (kept !== undefined) return { value: kept };
      // The record is damaged, and can be rebuilt.
      if (isRebuildable(key))
        await this.#bucket.put(recordObject(key), seal(key, sealed));
      return tried;
    });
  }

  async change<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    change: (before: T | undefined) => unknown,
  ): Promise<void> {
    await untilDone("change", async () => {
      const found = await this.#find(key);
      const before = this.#open(key, found, readBody);
      const after = change(before);
      if (after === before) return { value: undefined };
      const sealed = found.kind === "good" ? found.sealed : undefined;
      const next = nextSealed(key, sealed, after);
      const tried = await this.#tryWrite(key, next, this.#conditionOf(found));
      return tried.isOurs ? { value: undefined } : tried;
    });
  }

  refuse(key: RecordKey, problem: string, cause?: unknown): never {
    const error = failure(
      "record-unreadable",
      recordObject(key),
      problem,
      "look at the object store and who writes to it, then restore the object from a backup",
      { cause },
    );
    this.#onUnreadable(error);
    throw error;
  }

  async remove(key: RecordKey): Promise<void> {
    await this.#bucket.delete(recordObject(key));
  }

  async *listAll(): AsyncGenerator<RecordKey> {
    for await (const { key } of this.#bucket.list(recordObjects([]))) {
      const record = parseRecordObject(key);
      if (record !== undefined) yield record;
    }
  }

  async measure(): Promise<number> {
    let bytes = 0;
    for await (const { size } of this.#bucket.list(recordObjects([])))
      bytes += size;
    return bytes;
  }

  async list(prefix: RecordKey): Promise<readonly string[]> {
    const { keys } = await this.#bucket.listLevel(recordObjects(prefix));
    return keys.flatMap((name) => {
      const [last, ...others] =
        parseRecordObject(recordObjects([]) + name) ?? [];
      return last !== undefined && others.length === 0 ? [last] : [];
    });
  }

  async folders(prefix: RecordKey): Promise<readonly string[]> {
    const level = await this.#bucket.listLevel(recordObjects(prefix));
    return level.folders.filter(isKeyPart);
  }

  /** Rejects rollbacks: a revision lower than one already seen is invalid. */
  async #find(key: RecordKey): Promise<Found> {
    const seen = await this.#seen?.recall(key);
    const found = await this.#look(key);
    if (seen === undefined) {
      if (found.kind === "good") await this.#seen?.remember(key, found.sealed);
      return found;
    }
    if (found.kind === "absent")
      return { kind: "bad", problem: "it is gone, and was seen", etag: "" };
    if (found.kind === "bad") return found;
    const { revision, body } = found.sealed;
    const { etag } = found;
    if (revision < seen.revision) {
      const problem = `it was set back: revision ${seen.revision} of it was seen, and this is ${revision}`;
      return { kind: "bad", problem, etag };
    }
    if (revision === seen.revision && body !== seen.body) {
      const problem = `its revision ${revision} was seen with another content`;
      return { kind: "bad", problem, etag };
    }
    if (revision > seen.revision) await this.#seen?.remember(key, found.sealed);
    return found;
  }

  /** Reads the record as it is now, without regard to versions seen before. */
  async #look(key: RecordKey): Promise<Found> {
    const object = await this.#bucket.get(recordObject(key));
    if (object === undefined) return { kind: "absent" };
    const { etag, size, body } = object;
    if (size > largest) {
      body.destroy();
      return { kind: "bad", problem: `it has ${size} bytes`, etag };
    }
    const sealed = unseal(key, await this.#bucket.readText(object, largest));
    return sealed === undefined
      ? { kind: "bad", problem: "its seal is broken", etag }
      : { kind: "good", sealed, etag };
  }

  #open<T>(key: RecordKey, found: Found, readBody: ReadBody<T>): T | undefined {
    return openSettled(found, readBody, (problem, cause) => {
      if (!isRebuildable(key)) this.refuse(key, problem, cause);
    });
  }

  /**
   * Writes the object and returns whether it is ours now. Equal bytes may come
   * from another replica, so a mark identifies the writer.
   */
  async #tryWrite(
    key: RecordKey,
    sealed: Sealed,
    condition: Condition,
  ): Promise<Tried> {
    const object = recordObject(key);
    const body = seal(key, sealed);
    const mark = crypto.randomUUID();
    const outcome = await this.#bucket.putIf(object, body, condition, mark);
    const isOurs =
      outcome.kind === "unknown"
        ? (await this.#bucket.head(object))?.mark === mark
        : outcome.kind === "written";
    if (isOurs) await this.#seen?.remember(key, sealed);
    const isFailed = !isOurs && outcome.kind === "unknown";
    const before = condition.kind === "unchanged" ? condition.etag : undefined;
    const failure = isFailed ? outcome.failure : undefined;
    return { isOurs, failure, before };
  }

  #conditionOf(found: Found): Condition {
    return found.kind === "absent"
      ? { kind: "absent" }
      : unchanged(found.etag, this.#form);
  }
}

/** Repeats until the write is decided. */
async function untilDone<T>(
  verb: "create" | "change",
  attempt: () => Promise<{ readonly value: T } | Tried>,
): Promise<T> {
  let failures = 0;
  let last: Tried | undefined;
  for (let tried = 0; tried < tries; tried++) {
    await pauseBefore(tried);
    const outcome = await attempt();
    if ("value" in outcome) return outcome.value;
    const { failure, before } = outcome;
    // Ceph answers 500 to some of many losing writers.
    const isStuck = failure !== undefined && before === last?.before;
    failures = isStuck ? failures + 1 : Number(failure !== undefined);
    if (failures === mostFailures && failure !== undefined) throw failure;
    last = outcome;
  }
  throw failure("too-busy", `processes that ${verb} one record`);
}

/** Waits a random time, so that waiting writers do not collide again. */
async function pauseBefore(attempt: number): Promise<void> {
  if (attempt === 0) return;
  await pause(Math.random() * Math.min(2_000, 20 * 2 ** attempt));
}
