import type { FileHandle } from "node:fs/promises";
import { failure, type Failure } from "../errors/index.ts";
import { currentAsker } from "./asker.ts";
import { formatAuditEntry, type AuditEntry } from "./audit-entry.ts";
import { AuditFile, type AuditFileSettings } from "./audit-file.ts";
import { filesKept } from "./audit/read-log.ts";

export interface AuditLinesSettings {
  /** The current file; older ones lie beside it as `path.1` (the newest), `path.2` and so on. */
  readonly path: string;
  readonly now: () => Date;
  /** Entries that no request waited for could not be written. */
  readonly onLost: (entries: number, cause: Error) => void;
  /** Entries were refused, of which each asker hears. */
  readonly onRefused?: ((entries: number) => void) | undefined;
  /** Bytes; 64 MiB. */
  readonly maxSize?: number | undefined;
  /** Older files; 8. */
  readonly keep?: number | undefined;
  /** Bytes of entries that no request waits for and that are not written yet; 4 MiB. */
  readonly maxWaiting?: number | undefined;
  /** fdatasync(2). */
  readonly sync?: ((handle: FileHandle) => Promise<void>) | undefined;
  /** Needed where several processes append. */
  readonly exclusively?: AuditFileSettings["exclusively"] | undefined;
}

interface Line {
  readonly json: string;
  /** Promise of a durable line. */
  readonly settle?: PromiseWithResolvers<void>;
}

/** Bytes that are written at once. */
const largestBatch = 2 ** 20;

const closed = new Error("it is closed");

/** JSON lines, one a decision. While one batch is written and synced the next one gathers, so that many records share one sync. */
export class AuditLines {
  readonly #settings: AuditLinesSettings;
  readonly #file: AuditFile;
  readonly #maxWaiting: number;
  #queue: Line[] = [];
  /** Bytes of lines that no request waits for. */
  #waiting = 0;
  #writing: Promise<void> | undefined;
  #closed = false;

  constructor(settings: AuditLinesSettings) {
    const { path, maxSize = 2 ** 26, keep = filesKept } = settings;
    const sync = settings.sync ?? ((handle: FileHandle) => handle.datasync());
    const exclusively = settings.exclusively ?? ((work) => work());
    this.#settings = settings;
    this.#file = new AuditFile({ path, maxSize, keep, sync, exclusively });
    this.#maxWaiting = settings.maxWaiting ?? 2 ** 22;
  }

  /**
   * Adds the client or operator. Resolves for a durable entry when it is on the
   * disk, for another one at once. Only a durable entry rejects, with
   * store-full; its subject must not be answered then.
   */
  async record(
    entry: AuditEntry,
    { durable }: { readonly durable: boolean },
  ): Promise<void> {
    const asked = { ...currentAsker(), ...entry };
    const json = formatAuditEntry(asked, this.#settings.now());
    if (!durable) {
      this.#enqueue(json);
      return;
    }
    if (this.#closed) throw this.#unwritten(closed);
    const settle = Promise.withResolvers<void>();
    this.#queue.push({ json, settle });
    this.#wake();
    return settle.promise;
  }

  /** Writes and syncs what waits. Rejects with store-full when that fails. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writing;
    await this.#file.close().catch((error: unknown) => {
      throw this.#unwritten(error);
    });
  }

  #enqueue(json: string): void {
    const { onLost } = this.#settings;
    if (this.#closed) onLost(1, this.#unwritten(closed));
    else if (this.#waiting + json.length > this.#maxWaiting)
      onLost(1, failure("too-busy", "entries for the audit log"));
    else {
      this.#waiting += json.length;
      this.#queue.push({ json });
      this.#wake();
    }
  }

  #wake(): void {
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#writeBatch(this.#takeBatch());
    } finally {
      // This runs in the same turn as the last look at the queue, so that no
      // line in between is lost.
      this.#writing = undefined;
    }
  }

  async #writeBatch(batch: readonly Line[]): Promise<void> {
    const durable = batch.flatMap(({ settle }) => settle ?? []);
    try {
      const entries = batch.map(({ json }) => json);
      await this.#file.append(entries, durable.length > 0);
      for (const { resolve } of durable) resolve();
    } catch (error) {
      await this.#file.abandon();
      const unwritten = this.#unwritten(error);
      for (const { reject } of durable) reject(unwritten);
      if (durable.length > 0) this.#settings.onRefused?.(durable.length);
      const lost = batch.length - durable.length;
      if (lost > 0) this.#settings.onLost(lost, unwritten);
    } finally {
      for (const { json, settle } of batch)
        if (settle === undefined) this.#waiting -= json.length;
    }
  }

  #takeBatch(): readonly Line[] {
    let size = 0;
    const end = this.#queue.findIndex(
      ({ json }) => (size += json.length) > largestBatch,
    );
    const count = end < 0 ? this.#queue.length : Math.max(1, end);
    return this.#queue.splice(0, count);
  }

  #unwritten(cause: unknown): Failure<"store-full"> {
    const { message } = cause as Error;
    // The path is not for clients.
    const reason = message.replace(/, \w+(?: '.*)?$/, "");
    const remedy = "look at the mirror's disk and at how it is mounted";
    return failure("store-full", "a line of the audit log", reason, remedy, {
      cause,
    });
  }
}
