import { constants, type Dirent } from "node:fs";
import { open, readdir, realpath, type FileHandle } from "node:fs/promises";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Hostname } from "../../address/hostname.ts";
import { failure, type Failure } from "../../errors/index.ts";
import type { OriginArchive } from "../http/http-client.ts";

interface FolderEntry {
  readonly name: string;
  /** A link's target is known once it is opened. */
  readonly kind: "file" | "link" | "other";
}

type Parts = readonly string[];

const pieceBytes = 256 * 1024;

/** Neither waits for the writer of a pipe nor follows a link that was put there meanwhile. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** There is no such file: none of the name, a file where a folder should be, or a name that no file can have. */
const absent = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/** Errors of one file, which prove nothing about the folder. */
const unreadable = new Set(["EACCES", "EPERM", "ELOOP", "ENXIO"]);

/** Directory of the machine that stands for a registry. Nothing outside of it is read, wherever links lead. */
export class OriginFolder {
  readonly #directory: string;
  readonly #base: URL;

  /** Without a hostname, messages name files by their path. */
  constructor(directory: string, hostname?: Hostname) {
    this.#directory = directory;
    this.#base =
      hostname === undefined
        ? pathToFileURL(join(directory, sep))
        : new URL(`https://${hostname}/`);
  }

  /** The path of a file, for operators. */
  show(parts: Parts): string {
    return join(this.#directory, ...parts);
  }

  /** Stands for a file in records and answers, without a path of the machine where there is a hostname; never asked for over the network. */
  urlOf(parts: Parts): URL {
    return new URL(parts.map(encodeURIComponent).join("/"), this.#base);
  }

  partsOf({ pathname }: URL): Parts {
    return pathname
      .slice(this.#base.pathname.length)
      .split("/")
      .map(decodeURIComponent);
  }

  /** Undefined for a missing folder. */
  async list(parts: Parts): Promise<readonly FolderEntry[] | undefined> {
    const place = await this.#place(parts);
    if (place === undefined) return undefined;
    const entries = await this.#try(parts, () =>
      readdir(place, { withFileTypes: true }),
    );
    return entries
      ?.filter(({ name }) => isFileName(name))
      .map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  }

  /** Undefined for a missing file. */
  async read(parts: Parts, most: number): Promise<Uint8Array | undefined> {
    await using file = await this.#open(parts, most);
    return (
      file &&
      Buffer.concat(await Array.fromAsync(this.#read(file, parts, most)))
    );
  }

  /** Bytes; undefined for a missing file. */
  async measure(parts: Parts, most = Infinity): Promise<number | undefined> {
    await using file = await this.#open(parts, most);
    return (await file?.stat())?.size;
  }

  /** Opened when it is read, so that nothing stays open without a reader. */
  async archive(
    url: URL,
    most: number,
    signal: AbortSignal,
  ): Promise<OriginArchive> {
    const parts = this.partsOf(url);
    const size = await this.measure(parts, most);
    if (size === undefined) throw failure("not-found", url.href);
    const body = this.#stream(parts, most, signal);
    return { url, contentType: "application/octet-stream", size, body };
  }

  async *#stream(
    parts: Parts,
    most: number,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    await using file = await this.#open(parts, most);
    if (file === undefined) throw this.#unusable(parts, "it is gone");
    for await (const piece of this.#read(file, parts, most)) {
      signal.throwIfAborted();
      yield piece;
    }
  }

  async #open(parts: Parts, most: number): Promise<FileHandle | undefined> {
    const place = await this.#place(parts);
    if (place === undefined) return undefined;
    const file = await this.#try(parts, () => open(place, flags));
    try {
      const stat = await file?.stat();
      if (stat?.isFile() === false)
        throw this.#unusable(parts, "it is not a file");
      if (stat !== undefined && stat.size > most)
        throw this.#tooLarge(parts, most);
      return file;
    } catch (error) {
      await file?.close();
      throw error;
    }
  }

  /** Reads to the end of the file, also where it grew meanwhile. */
  async *#read(
    file: FileHandle,
    parts: Parts,
    most: number,
  ): AsyncGenerator<Uint8Array> {
    const { size } = await file.stat();
    const length = Math.min(pieceBytes, size + 1);
    for (let position = 0; ;) {
      const buffer = Buffer.allocUnsafe(length);
      const read = await this.#try(parts, () =>
        file.read(buffer, 0, length, position),
      );
      const { bytesRead = 0 } = read ?? {};
      position += bytesRead;
      if (bytesRead === 0) return;
      if (position > most) throw this.#tooLarge(parts, most);
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Resolves the real path; undefined for a missing file. */
  async #place(parts: Parts): Promise<string | undefined> {
    if (!parts.every(isFileName))
      throw this.#unusable(parts, "it is no name of a file");
    const top = await this.#try([], () => realpath(this.#directory));
    if (top === undefined || parts.length === 0) return top;
    const place = await this.#try(parts, () => realpath(join(top, ...parts)));
    if (place === undefined || place.startsWith(`${top}${sep}`)) return place;
    throw this.#unusable(parts, "it is a link that leads out of the folder");
  }

  /** Undefined for a file that is missing; the folder itself has to exist. */
  async #try<T>(parts: Parts, act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (cause) {
      const { code = "unknown" } = cause as NodeJS.ErrnoException;
      if (parts.length > 0 && absent.has(code)) return undefined;
      if (parts.length > 0 && unreadable.has(code))
        throw this.#unusable(parts, `it cannot be read (${code})`);
      throw failure("origin-unreachable", this.urlOf(parts).href, code, {
        cause,
      });
    }
  }

  #tooLarge(parts: Parts, most: number): Failure<"origin-answer"> {
    return this.#unusable(parts, `it has more than ${most} bytes`);
  }

  #unusable(parts: Parts, reason: string): Failure<"origin-answer"> {
    return failure("origin-answer", this.urlOf(parts).href, reason);
  }
}

function isFileName(name: string): boolean {
  return !/^\.{0,2}$|[/\\\0]/.test(name);
}

function kindOf(entry: Dirent): FolderEntry["kind"] {
  if (entry.isFile()) return "file";
  return entry.isSymbolicLink() ? "link" : "other";
}
