import { fstatSync, statSync } from "node:fs";
import { access, type FileHandle, mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { failure, type Failure } from "../errors/index.ts";
import { currentAsker } from "./asker.ts";
import {
  type AuditEntry,
  type AuditEvent,
  formatAuditEntry,
} from "./audit-entry.ts";
import { filesKept } from "./audit-reader.ts";
import { LineLimit } from "./line-limit.ts";

export type { AuditEntry, AuditEvent } from "./audit-entry.ts";

interface AuditLogSettings extends Omit<AuditLinesSettings, "path"> {
  /** The current file of requests; older ones lie beside it as `path.1` (the newest), `path.2` and so on. */
  readonly requests: string;
  /** The same for decisions. */
  readonly decisions: string;
}

/** Events of single requests, which clients can repeat without limit. */
const ofRequests: ReadonlySet<AuditEvent> = new Set([
  "refused",
  "served",
  "cut",
]);

/** Events of origins' offers, which repeat with every request. */
const ofOffers: ReadonlySet<AuditEvent> = new Set([
  "replaced",
  "quarantined",
  "judged-again",
  "left-out",
]);

/** Lines for refused offers: of the same event on the same release, of its provider or module, and of all. */
const mostOfferLines = { window: 3_600_000, same: 10, group: 60, all: 600 };

/** Requests in one file and decisions about what is trusted in another, so that no number of requests moves a decision out; nor does an origin that changes what it offers. */
export class AuditLog {
  readonly #requests: AuditLines;
  readonly #decisions: AuditLines;
  readonly #offers = new LineLimit(mostOfferLines);

  constructor({ requests, decisions, ...settings }: AuditLogSettings) {
    this.#requests = new AuditLines({ ...settings, path: requests });
    this.#decisions = new AuditLines({ ...settings, path: decisions });
  }

  /**
   * Adds the client or operator. Resolves for a durable entry when it is on the
   * disk, for another one at once. Only a durable entry rejects, with
   * store-full; its subject must not be answered then.
   */
  async record(
    entry: AuditEntry,
    options: { readonly durable: boolean },
  ): Promise<void> {
    if (ofRequests.has(entry.event))
      return this.#requests.record(entry, options);
    const { event, verdict, provider, module, version } = entry;
    // An operator's decision, and content that becomes trusted, always has a line.
    if (verdict === "accepted" || !ofOffers.has(event))
      return this.#decisions.record(entry, options);
    const group = provider ?? module ?? "";
    const key = JSON.stringify([event, group, version]);
    if (this.#offers.take(key, group) === "line")
      await this.#decisions.record(entry, options);
  }

  /** Writes and syncs what waits. Rejects with store-full when that fails. */
  async close(): Promise<void> {
    await Promise.all([this.#requests.close(), this.#decisions.close()]);
  }
}

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
    this.#settings = settings;
    this.#file = new AuditFile({ path, maxSize, keep, sync });
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

interface AuditFileSettings {
  readonly path: string;
  /** Bytes at which the file moves aside; only a single longer line exceeds them. */
  readonly maxSize: number;
  /** Files that are kept beside the current one, as `path.1` (the newest) and so on. */
  readonly keep: number;
  /** Brings what was written to the disk. */
  readonly sync: (handle: FileHandle) => Promise<void>;
}

/** Bytes in which the end of a line is looked for at once. */
const pieceSize = 2 ** 16;

/** The current file while it is open, and how it was left. */
interface Current {
  readonly handle: FileHandle;
  readonly size: number;
}

/**
 * A file of lines that only grows, and moves aside when it is full. One call at a time; after a failure call `abandon`, then the next
 * append opens it again. An operator may move or remove it.
 */
class AuditFile {
  readonly #settings: AuditFileSettings;
  #current: Current | undefined;

  constructor(settings: AuditFileSettings) {
    this.#settings = settings;
  }

  /** `entries` are objects of JSON in ASCII. `durable` ones have reached the disk when this resolves. Rejects with the system's error; some may be written then. */
  async append(entries: readonly string[], durable: boolean): Promise<void> {
    await this.#appendAll(entries);
    // Other lines are appended meanwhile, because the disk takes longest.
    if (durable && this.#current)
      await this.#settings.sync(this.#current.handle);
  }

  async close(): Promise<void> {
    const handle = this.#current?.handle;
    this.#current = undefined;
    if (handle === undefined) return;
    try {
      await this.#settings.sync(handle);
    } finally {
      await handle.close();
    }
  }

  /** Lets go of a file that failed: after a failed sync the same handle would call lost bytes synced. */
  async abandon(): Promise<void> {
    const handle = this.#current?.handle;
    this.#current = undefined;
    await handle?.close().catch(() => undefined);
  }

  async #appendAll(entries: readonly string[]): Promise<void> {
    let rest = entries;
    while (rest.length > 0) {
      const current = await this.#openCurrent();
      const count = this.#countFitting(rest, current.size);
      if (count > 0) await this.#write(current, rest.slice(0, count));
      else await this.#moveAside();
      rest = rest.slice(count);
    }
  }

  /** Counts the lines that have room; at least one in an empty file. */
  #countFitting(entries: readonly string[], size: number): number {
    let end = size;
    const full = entries.findIndex(
      ({ length }) => (end += length + 1) > this.#settings.maxSize,
    );
    const fitting = full < 0 ? entries.length : full;
    return size === 0 ? Math.max(1, fitting) : fitting;
  }

  async #write(
    { handle, size }: Current,
    entries: readonly string[],
  ): Promise<void> {
    const text = entries.map((entry) => `${entry}\n`).join("");
    try {
      await handle.appendFile(text);
    } catch (error) {
      // If this fails too, the next process that opens the file removes the
      // unfinished line.
      await handle.truncate(size).catch(() => undefined);
      throw error;
    }
    this.#current = { handle, size: size + text.length };
  }

  async #openCurrent(): Promise<Current> {
    const { path } = this.#settings;
    if (this.#current && !isAt(this.#current.handle, path)) await this.close();
    const handle = this.#current?.handle ?? (await openToAppend(path));
    const { size } = fstatSync(handle.fd);
    if (this.#current?.size !== size)
      this.#current = await this.#look(handle, size);
    return this.#current;
  }

  /** Looks at a file that this process did not leave as it is; a line that a killed process left unfinished goes. */
  async #look(handle: FileHandle, length: number): Promise<Current> {
    try {
      const size = await findWholeLines(handle, length);
      if (size < length) await handle.truncate(size);
      return { handle, size };
    } catch (error) {
      if (this.#current === undefined) await handle.close();
      throw error;
    }
  }

  /** Shifts only up to the first free name, so that a rotation cut short loses nothing when it is done again. */
  async #moveAside(): Promise<void> {
    await this.close();
    const { path, keep } = this.#settings;
    let free = 1;
    while (free < keep && (await exists(`${path}.${free}`))) free++;
    for (let to = free; to > 1; to--)
      await rename(`${path}.${to - 1}`, `${path}.${to}`);
    await rename(path, `${path}.1`);
    await syncFolder(dirname(path));
  }
}

async function openToAppend(path: string): Promise<FileHandle> {
  // A storage directory that is away is not made anew.
  await mkdir(dirname(path), { mode: 0o700 }).catch(unlessThere);
  const handle = await open(path, "a+", 0o600);
  try {
    await syncFolder(dirname(path));
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Finds how many bytes of a file are whole lines. */
async function findWholeLines(
  handle: FileHandle,
  size: number,
): Promise<number> {
  const piece = Buffer.alloc(Math.min(size, pieceSize));
  for (let end = size; end > 0; end -= piece.length) {
    const start = Math.max(0, end - piece.length);
    await handle.read(piece, 0, end - start, start);
    const last = piece.subarray(0, end - start).lastIndexOf("\n");
    if (last >= 0) return start + last + 1;
  }
  return 0;
}

/** Asks the system without a thread, which would take longer than what it answers from memory. */
function isAt(handle: FileHandle, path: string): boolean {
  const held = fstatSync(handle.fd);
  const there = statSync(path, { throwIfNoEntry: false });
  return there?.ino === held.ino && there.dev === held.dev;
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}
