import { fstatSync, statSync } from "node:fs";
import { access, mkdir, open, rename, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

export interface AuditFileSettings {
  readonly path: string;
  /** Bytes at which the file moves aside; only a single longer line exceeds them. */
  readonly maxSize: number;
  /** Files that are kept beside the current one, as `path.1` (the newest) and so on. */
  readonly keep: number;
  /** Brings what was written to the disk. */
  readonly sync: (handle: FileHandle) => Promise<void>;
  /** Does the work while nothing else appends to the file or opens it. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
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
export class AuditFile {
  readonly #settings: AuditFileSettings;
  #current: Current | undefined;

  constructor(settings: AuditFileSettings) {
    this.#settings = settings;
  }

  /** `entries` are objects of JSON in ASCII. `durable` ones have reached the disk when this resolves. Rejects with the system's error; some may be written then. */
  async append(entries: readonly string[], durable: boolean): Promise<void> {
    await this.#settings.exclusively(() => this.#appendAll(entries));
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
