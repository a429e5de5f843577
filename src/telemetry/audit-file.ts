import {
  access,
  mkdir,
  open,
  rename,
  stat,
  type FileHandle,
} from "node:fs/promises";
import { dirname } from "node:path";

interface AuditFileSettings {
  readonly path: string;
  /** Bytes at which the file moves aside; only a single longer line exceeds them. */
  readonly maxSize: number;
  /** Files that are kept beside the current one, as `path.1` (the newest) and so on. */
  readonly keep: number;
  /** Brings what was written to the disk. */
  readonly sync: (handle: FileHandle) => Promise<void>;
}

/**
 * A file of lines that only grows, and moves aside when it is full. One call at a time; after a failure call `abandon`, then the next
 * append opens it anew. Another process may append to it, move or remove it.
 */
export class AuditFile {
  readonly #settings: AuditFileSettings;
  #handle: FileHandle | undefined;

  constructor(settings: AuditFileSettings) {
    this.#settings = settings;
  }

  /** `durable` lines have reached the disk when this resolves. Rejects with the system's error; some lines may be written then. */
  async append(lines: readonly Buffer[], durable: boolean): Promise<void> {
    let rest = lines;
    while (rest[0] !== undefined) {
      const { handle, room } = await this.#makeRoom(rest[0].length);
      const count = countFitting(rest, room);
      await handle.appendFile(Buffer.concat(rest.slice(0, count)));
      if (durable) await this.#settings.sync(handle);
      rest = rest.slice(count);
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle === undefined) return;
    try {
      await this.#settings.sync(handle);
    } finally {
      await handle.close();
    }
  }

  /** Lets go of a file that failed: after a failed sync the same handle would call lost bytes synced. */
  async abandon(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => undefined);
  }

  async #makeRoom(
    length: number,
  ): Promise<{ readonly handle: FileHandle; readonly room: number }> {
    const { maxSize } = this.#settings;
    const current = await this.#openCurrent();
    const room = maxSize - current.size;
    if (current.size === 0 || length <= room)
      return { handle: current.handle, room };
    await this.close();
    await this.#moveAside();
    const { handle } = await this.#openCurrent();
    return { handle, room: maxSize };
  }

  async #openCurrent(): Promise<{
    readonly handle: FileHandle;
    readonly size: number;
  }> {
    if (this.#handle && !(await isAt(this.#handle, this.#settings.path)))
      await this.close();
    this.#handle ??= await openHealed(this.#settings.path);
    const { size } = await this.#handle.stat();
    return { handle: this.#handle, size };
  }

  /** Shifts only up to the first free name, so that a rotation cut short loses nothing when it is done again. */
  async #moveAside(): Promise<void> {
    const { path, keep } = this.#settings;
    let free = 1;
    while (free < keep && (await exists(`${path}.${free}`))) free++;
    for (let to = free; to > 1; to--)
      await rename(`${path}.${to - 1}`, `${path}.${to}`);
    await rename(path, `${path}.1`);
    await syncFolder(dirname(path));
  }
}

function countFitting(lines: readonly Buffer[], room: number): number {
  let left = room;
  const tooMany = lines.findIndex((line) => (left -= line.length) < 0);
  return tooMany < 0 ? lines.length : Math.max(1, tooMany);
}

/** A last line that a killed process left unfinished is ended, so that the next one stands alone. */
async function openHealed(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, "a+", 0o600);
  try {
    const { size } = await handle.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await handle.read(last, 0, 1, size - 1);
    if (size > 0 && last.toString() !== "\n") await handle.appendFile("\n");
    await syncFolder(dirname(path));
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  const held = await handle.stat();
  const there = await stat(path).catch(() => undefined);
  return there?.ino === held.ino && there.dev === held.dev;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
