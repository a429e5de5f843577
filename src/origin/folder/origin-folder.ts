import { constants, type Dirent } from "node:fs";
import { open, readdir, realpath, type FileHandle } from "node:fs/promises";
import { join, sep } from "node:path";
import { OriginAnswerUnusable, OriginUnreachable } from "../../errors/index.ts";
import type { Hostname } from "../../address/hostname.ts";
import type { OriginArchive } from "../http/http-client.ts";

const pieceBytes = 256 * 1024;

/** Absent, or in the way of what is named. */
const absent = new Set(["ENOENT", "ENOTDIR"]);

/** A folder of the machine that stands for a registry. Nothing outside of it is read, wherever links lead. */
export class OriginFolder {
  readonly #directory: string;
  readonly #base: URL;

  constructor(directory: string, hostname: Hostname) {
    this.#directory = directory;
    this.#base = new URL(`https://${hostname}/`);
  }

  /** What stands for a file in records and answers; nobody asks the network for it. */
  urlOf(parts: readonly string[]): URL {
    return new URL(parts.map(encodeURIComponent).join("/"), this.#base);
  }

  partsOf({ pathname }: URL): readonly string[] {
    return pathname.slice(1).split("/").map(decodeURIComponent);
  }

  /** As clients may know it, who are told no path of the machine. */
  nameOf(parts: readonly string[]): string {
    return this.urlOf(parts).href;
  }

  /** As operators know it. */
  show(parts: readonly string[]): string {
    return join(this.#directory, ...parts);
  }

  /** Undefined where there is none. Throws OriginAnswerUnusable and OriginUnreachable, like the others. */
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

  async isFile(parts: readonly string[]): Promise<boolean> {
    const file = await this.#open(parts, Infinity);
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
      const { bytesRead } = await this.#try(parts, () =>
        handle.read(buffer, 0, pieceBytes, position),
      );
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
    if (parts.length === 0) return top;
    try {
      const place = await realpath(join(top, ...parts));
      if (place.startsWith(`${top}${sep}`)) return place;
      throw this.#unusable(parts, "it is a link that leads out of the folder");
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (absent.has(code)) return undefined;
      throw error instanceof OriginAnswerUnusable
        ? error
        : this.#unreachable(parts, error);
    }
  }

  async #try<T>(parts: readonly string[], act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      throw this.#unreachable(parts, error);
    }
  }

  #unreachable(parts: readonly string[], error: unknown): OriginUnreachable {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    return new OriginUnreachable(this.nameOf(parts), code, { cause: error });
  }

  #unusable(parts: readonly string[], reason: string): OriginAnswerUnusable {
    return new OriginAnswerUnusable(this.nameOf(parts), reason);
  }

  #tooLarge(parts: readonly string[], most: number): OriginAnswerUnusable {
    return this.#unusable(parts, `it has more than ${most} bytes`);
  }
}
