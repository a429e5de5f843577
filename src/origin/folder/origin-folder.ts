import { constants, type Dirent } from "node:fs";
import { open, readdir, realpath, type FileHandle } from "node:fs/promises";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Hostname } from "../../address/hostname.ts";
import {
  OriginAnswerUnusable,
  OriginFolderUnreachable,
} from "../../errors/index.ts";
import type { OriginArchive } from "../http/http-client.ts";

const pieceBytes = 256 * 1024;

/** Absent, or in the way of what is named, or more than a name can be. */
const absent = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/** Of the one thing that is read, not of the folder as a whole. */
const unreadable = new Set(["EACCES", "EPERM", "ELOOP", "ENXIO"]);

/** A folder of the machine that stands for a registry. Nothing outside of it is read, wherever links lead. */
export class OriginFolder {
  readonly #directory: string;
  readonly #base: URL;

  /** Without a hostname, files are told of by their paths. */
  constructor(directory: string, hostname?: Hostname) {
    this.#directory = directory;
    this.#base =
      hostname === undefined
        ? pathToFileURL(join(directory, sep))
        : new URL(`https://${hostname}/`);
  }

  /** What stands for a file in records and answers; nobody asks the network for it. */
  urlOf(parts: readonly string[]): URL {
    return new URL(parts.map(encodeURIComponent).join("/"), this.#base);
  }

  partsOf({ pathname }: URL): readonly string[] {
    return pathname
      .slice(this.#base.pathname.length)
      .split("/")
      .map(decodeURIComponent);
  }

  /** As clients may know it, who are told no path of the machine where there is a hostname. */
  nameOf(parts: readonly string[]): string {
    return this.urlOf(parts).href;
  }

  /** As operators know it. */
  show(parts: readonly string[]): string {
    return join(this.#directory, ...parts);
  }

  /** Undefined where there is none. Throws OriginAnswerUnusable and OriginFolderUnreachable, like the others. */
  async list(parts: readonly string[]): Promise<readonly Dirent[] | undefined> {
    const place = await this.#place(parts);
    if (place === undefined) return undefined;
    return this.#try(parts, () => readdir(place, { withFileTypes: true }));
  }

  /** Undefined where there is none. */
  async read(
    parts: readonly string[],
    most: number,
  ): Promise<Uint8Array | undefined> {
    const file = await this.#open(parts, most);
    if (file === undefined) return undefined;
    await using handle = file.handle;
    return await this.#try(parts, () => handle.readFile());
  }

  /** Throws OriginAnswerUnusable for what is no file, or larger. */
  async isFile(parts: readonly string[], most = Infinity): Promise<boolean> {
    const file = await this.#open(parts, most);
    await file?.handle.close();
    return file !== undefined;
  }

  /** Opened again when it is read, so that nothing stays open where nobody reads. Undefined where there is none. */
  async archive(
    parts: readonly string[],
    most: number,
    signal: AbortSignal,
  ): Promise<OriginArchive | undefined> {
    const file = await this.#open(parts, most);
    await file?.handle.close();
    if (file === undefined) return undefined;
    const body = this.#stream(parts, most, signal);
    const contentType = "application/octet-stream";
    return { url: this.urlOf(parts), contentType, size: file.size, body };
  }

  async *#stream(
    parts: readonly string[],
    most: number,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const file = await this.#open(parts, most);
    if (file === undefined) throw this.#unusable(parts, "it is gone");
    await using handle = file.handle;
    for (let position = 0; ;) {
      signal.throwIfAborted();
      const buffer = Buffer.allocUnsafe(pieceBytes);
      const read = await this.#try(parts, () =>
        handle.read(buffer, 0, pieceBytes, position),
      );
      const { bytesRead = 0 } = read ?? {};
      position += bytesRead;
      if (bytesRead === 0) return;
      if (position > most) throw this.#tooLarge(parts, most);
      yield buffer.subarray(0, bytesRead);
    }
  }

  async #open(
    parts: readonly string[],
    most: number,
  ): Promise<
    { readonly handle: FileHandle; readonly size: number } | undefined
  > {
    const place = await this.#place(parts);
    if (place === undefined) return undefined;
    // Not waiting for the writer of a pipe, nor following a link that was put there meanwhile.
    const flags =
      constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
    const handle = await this.#try(parts, () => open(place, flags));
    if (handle === undefined) return undefined;
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) throw this.#unusable(parts, "it is not a file");
      if (stat.size > most) throw this.#tooLarge(parts, most);
      return { handle, size: stat.size };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Where it really is; undefined where it is not. */
  async #place(parts: readonly string[]): Promise<string | undefined> {
    if (parts.some((part) => /^\.{0,2}$|[/\\\0]/.test(part)))
      throw this.#unusable(parts, "it is no name of a file");
    const top = await this.#try([], () => realpath(this.#directory));
    if (top === undefined || parts.length === 0) return top;
    const place = await this.#try(parts, () => realpath(join(top, ...parts)));
    if (place === undefined || place.startsWith(`${top}${sep}`)) return place;
    throw this.#unusable(parts, "it is a link that leads out of the folder");
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
        throw this.#unusable(parts, `it cannot be read (${code})`);
      throw new OriginFolderUnreachable(this.nameOf(parts), code, { cause });
    }
  }

  #unusable(parts: readonly string[], reason: string): OriginAnswerUnusable {
    return new OriginAnswerUnusable(this.nameOf(parts), reason);
  }

  #tooLarge(parts: readonly string[], most: number): OriginAnswerUnusable {
    return this.#unusable(parts, `it has more than ${most} bytes`);
  }
}
