import { fstatSync, statSync } from "node:fs";
import { access, mkdir, open, rename, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { linkLine, sha256Of, type ChainHead } from "./audit/chain.ts";
import type { Checkpoints } from "./audit/checkpoints.ts";
import { findLogEnd, type LogEnd } from "./audit/log-end.ts";

export interface AuditFileSettings {
  readonly path: string;
  /** Bytes at which the file moves aside; only a single longer line exceeds them. */
  readonly maxSize: number;
  /** Files that are kept beside the current one, as `path.1` (the newest) and so on. */
  readonly keep: number;
  /** Brings what was written to the disk. */
  readonly sync: (handle: FileHandle) => Promise<void>;
  /** Does the work while no other process that appends to the file does such work. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  readonly checkpoints: Checkpoints | undefined;
  readonly now: () => Date;
}

/** Lines that are written at once, and where the chain stands after them. */
interface Batch {
  readonly text: string;
  readonly count: number;
  readonly end: LogEnd;
}

/** The current file while it is open, and how it was left. */
interface Current {
  readonly handle: FileHandle;
  readonly size: number;
  readonly end: LogEnd;
  /** True for a file in which no entry is yet. */
  readonly isFresh: boolean;
  /** False for one without a chained line. */
  readonly isBegun: boolean;
  /** What has to end a line that a killed process left unfinished. */
  readonly ending: "\n" | "";
}

/**
 * A file of chained lines that only grows, and moves aside when it is full. One call at a time; after a failure call `abandon`, then the next
 * append opens it anew. Another process may append to it, move or remove it.
 */
export class AuditFile {
  readonly #settings: AuditFileSettings;
  #current: Current | undefined;
  /** Where the chain stood when this process last wrote, so that what somebody cuts off is missed. */
  #written: LogEnd | undefined;

  constructor(settings: AuditFileSettings) {
    this.#settings = settings;
  }

  /** `entries` are objects of JSON in ASCII. `durable` ones have reached the disk when this resolves. Rejects with the system's error; some may be written then. */
  async append(entries: readonly string[], durable: boolean): Promise<void> {
    await this.#settings.exclusively(() => this.#appendAll(entries));
    // Others may append meanwhile, because the disk takes longest.
    if (durable && this.#current)
      await this.#settings.sync(this.#current.handle);
  }

  /** Signs for the lines that are not signed for; for none again when it is `asked`. */
  async checkpoint(asked: boolean): Promise<void> {
    const { checkpoints, exclusively } = this.#settings;
    if (checkpoints === undefined) return;
    await exclusively(async () => {
      const current = await this.#openCurrent();
      const kept = await checkpoints.readKept();
      const isNew = current.end.head.size > (kept?.size ?? 0);
      if (isNew || (asked && kept !== undefined))
        await this.#sign(current, checkpoints, !current.isBegun);
    });
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
      const current = await this.#begin(await this.#openCurrent());
      const batch = this.#link(rest, current);
      if (batch.count > 0) await this.#write(current, batch);
      else await this.#moveAside();
      rest = rest.slice(batch.count);
    }
  }

  /** The first line of a file that follows another one signs for those. */
  async #begin(current: Current): Promise<Current> {
    const { checkpoints } = this.#settings;
    if (checkpoints === undefined) return current;
    const { size } = current.end.head;
    if (size === 0) await checkpoints.begin();
    else if (!current.isBegun) return this.#sign(current, checkpoints, true);
    return current;
  }

  async #sign(
    current: Current,
    checkpoints: Checkpoints,
    isFresh = false,
  ): Promise<Current> {
    const { head } = current.end;
    const reason = isFresh ? "rotation" : undefined;
    const now = this.#settings.now();
    const entry = await checkpoints.makeEntry(head, now, reason);
    const batch = this.#link([entry], { ...current, isFresh: true });
    const written = await this.#write(current, batch, isFresh);
    // On the disk before the note, which must never speak of lines that are not there.
    await this.#settings.sync(written.handle);
    await checkpoints.keep(written.end.head);
    return written;
  }

  /** As many lines as have room; at least one in an empty file. */
  #link(
    entries: readonly string[],
    { end, size, ending, isFresh }: Current,
  ): Batch {
    let { head, gap } = end;
    let text: string = ending;
    let count = 0;
    for (const entry of entries) {
      const line = linkLine(entry, head, gap);
      const isFull = size + text.length + line.length >= this.#settings.maxSize;
      if (isFull && (count > 0 || !isFresh)) break;
      text += `${line}\n`;
      head = { size: head.size + 1, sha256: sha256Of(line) };
      gap = undefined;
      count++;
    }
    return { text, count, end: { head, gap } };
  }

  async #write(
    { handle, size }: Current,
    { text, end }: Batch,
    isFresh = false,
  ): Promise<Current> {
    try {
      await handle.appendFile(text);
    } catch (error) {
      // Where this fails as well, the next one to open the file ends the line.
      await handle.truncate(size).catch(() => undefined);
      throw error;
    }
    this.#written = end;
    const written = { handle, size: size + text.length, end, isFresh };
    return (this.#current = { ...written, isBegun: true, ending: "" });
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

  /** At a file that this process did not leave as it is. */
  async #look(handle: FileHandle, size: number): Promise<Current> {
    try {
      const { path, keep, checkpoints } = this.#settings;
      const found = await findLogEnd(path, keep);
      const kept = await checkpoints?.readKept();
      const end = latest(found, this.#written, kept);
      const ending = (await endsInLine(handle, size)) ? "\n" : "";
      const isFresh = size === 0;
      const isBegun = found.isBegun && !isFresh;
      return { handle, size, end, isFresh, isBegun, ending };
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

/** What was cut off is missed for good when the chain goes on from where it stood. */
function latest(
  found: LogEnd,
  written: LogEnd | undefined,
  kept: ChainHead | undefined,
): LogEnd {
  const others = [written, kept && { head: kept, gap: undefined }];
  return others.reduce<LogEnd>(
    (end, other) =>
      other !== undefined && other.head.size > end.head.size ? other : end,
    found,
  );
}

async function openToAppend(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, "a+", 0o600);
  try {
    await syncFolder(dirname(path));
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** True when a killed process left the last line unfinished. */
async function endsInLine(handle: FileHandle, size: number): Promise<boolean> {
  const last = Buffer.alloc(1);
  if (size > 0) await handle.read(last, 0, 1, size - 1);
  return size > 0 && last.toString() !== "\n";
}

/** Asks the system without a thread, which would take longer than what it answers from memory. */
function isAt(handle: FileHandle, path: string): boolean {
  const held = fstatSync(handle.fd);
  const there = statSync(path, { throwIfNoEntry: false });
  return there?.ino === held.ino && there.dev === held.dev;
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
