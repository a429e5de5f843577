import { constants, type Dirent } from "node:fs";
import { open, readdir, realpath, type FileHandle } from "node:fs/promises";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Hostname } from "../../address/hostname.ts";
import { failure } from "../../errors/index.ts";
import {
  OriginFolder,
  type FolderEntry,
  type FolderFile,
} from "./origin-folder.ts";

const pieceBytes = 256 * 1024;

/** There is no such file: none of the name, a file where a folder should be, or a name that no file can have. */
const absent = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/** Errors of one file, which prove nothing about the folder. */
const unreadable = new Set(["EACCES", "EPERM", "ELOOP", "ENXIO"]);

/** A directory of the machine. Nothing outside of it is read, wherever links lead. */
export class DirectoryFolder extends OriginFolder {
  readonly #directory: string;

  constructor(directory: string, hostname?: Hostname) {
    super(pathToFileURL(join(directory, sep)), hostname);
    this.#directory = directory;
  }

  show(parts: readonly string[]): string {
    return join(this.#directory, ...parts);
  }

  protected async listNamed(
    parts: readonly string[],
  ): Promise<readonly FolderEntry[] | undefined> {
    const place = await this.#place(parts);
    if (place === undefined) return undefined;
    const read = () => readdir(place, { withFileTypes: true });
    const entries = await this.#try(parts, read);
    return entries?.map((entry) => ({
      name: entry.name,
      kind: kindOf(entry),
    }));
  }

  protected async measureNamed(
    parts: readonly string[],
  ): Promise<number | undefined> {
    await using file = await this.openNamed(parts);
    return file?.size;
  }

  protected async openNamed(
    parts: readonly string[],
  ): Promise<FolderFile | undefined> {
    const place = await this.#place(parts);
    if (place === undefined) return undefined;
    // Not waiting for the writer of a pipe, nor following a link that was put there meanwhile.
    const flags =
      constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
    const handle = await this.#try(parts, () => open(place, flags));
    if (handle === undefined) return undefined;
    const close = () => handle.close();
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw this.unusable(parts, "it is not a file");
      const { size } = stat;
      const pieces = () => this.#read(handle, parts, size);
      return { size, pieces, [Symbol.asyncDispose]: close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** Reads to the end of the file, also where it grew beyond `size` bytes. */
  async *#read(
    handle: FileHandle,
    parts: readonly string[],
    size: number,
  ): AsyncGenerator<Uint8Array> {
    const length = Math.min(pieceBytes, size + 1);
    for (let position = 0; ;) {
      const buffer = Buffer.allocUnsafe(length);
      const read = await this.#try(parts, () =>
        handle.read(buffer, 0, length, position),
      );
      const { bytesRead = 0 } = read ?? {};
      position += bytesRead;
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Resolves the real path; undefined for a missing file. */
  async #place(parts: readonly string[]): Promise<string | undefined> {
    const top = await this.#try([], () => realpath(this.#directory));
    if (top === undefined || parts.length === 0) return top;
    const place = await this.#try(parts, () => realpath(join(top, ...parts)));
    if (place === undefined || place.startsWith(`${top}${sep}`)) return place;
    throw this.unusable(parts, "it is a link that leads out of the folder");
  }

  /** Undefined where there is none; only the folder itself has to be there. */
  async #try<T>(
    parts: readonly string[],
    act: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await act();
    } catch (cause) {
      const { code = "unknown" } = cause as NodeJS.ErrnoException;
      if (parts.length > 0 && absent.has(code)) return undefined;
      if (parts.length > 0 && unreadable.has(code))
        throw this.unusable(parts, `it cannot be read (${code})`);
      throw failure("origin-unreachable", this.nameOf(parts), code, { cause });
    }
  }
}

function kindOf(entry: Dirent): FolderEntry["kind"] {
  if (entry.isFile()) return "file";
  return entry.isSymbolicLink() ? "link" : "other";
}
