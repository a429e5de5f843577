import type { Hostname } from "../../address/hostname.ts";
import { failure, type Failure } from "../../errors/index.ts";
import type { OriginArchive } from "../http/http-client.ts";

export interface FolderEntry {
  readonly name: string;
  /** A link's target is known once it is opened. */
  readonly kind: "file" | "link" | "other";
}

/** Open until it is disposed. */
export interface FolderFile extends AsyncDisposable {
  /** Bytes. */
  readonly size: number;
  readonly pieces: () => AsyncIterable<Uint8Array>;
}

/** Files by the names of folders and their own name, which stand for a registry. */
export abstract class OriginFolder {
  readonly #base: URL;

  /**
   * Sets the place, which ends in a slash. Without a hostname, messages name
   * files by it.
   */
  constructor(place: URL, hostname?: Hostname) {
    this.#base =
      hostname === undefined ? place : new URL(`https://${hostname}/`);
  }

  /** Returns the name of a file for operators. */
  abstract show(parts: readonly string[]): string;

  protected abstract listNamed(
    parts: readonly string[],
  ): Promise<readonly FolderEntry[] | undefined>;

  /** Bytes. */
  protected abstract measureNamed(
    parts: readonly string[],
  ): Promise<number | undefined>;

  protected abstract openNamed(
    parts: readonly string[],
  ): Promise<FolderFile | undefined>;

  /** Stands for a file in records and answers; it is never asked for over the network. */
  urlOf(parts: readonly string[]): URL {
    return new URL(parts.map(encodeURIComponent).join("/"), this.#base);
  }

  partsOf({ pathname }: URL): readonly string[] {
    return pathname
      .slice(this.#base.pathname.length)
      .split("/")
      .map(decodeURIComponent);
  }

  /**
   * Returns the name of a file for clients; where there is a hostname, it has
   * no path of the machine.
   */
  nameOf(parts: readonly string[]): string {
    return this.urlOf(parts).href;
  }

  /** Undefined for a missing file. Throws origin-answer and origin-unreachable, like the others. */
  async list(
    parts: readonly string[],
  ): Promise<readonly FolderEntry[] | undefined> {
    this.#check(parts);
    const entries = await this.listNamed(parts);
    return entries?.filter(({ name }) => isFileName(name));
  }

  /** Undefined for a missing file. */
  async read(
    parts: readonly string[],
    most: number,
  ): Promise<Uint8Array | undefined> {
    await using file = await this.#open(parts, most);
    if (file === undefined) return undefined;
    const pieces = await Array.fromAsync(this.#bound(file, parts, most));
    return Buffer.concat(pieces);
  }

  /**
   * Returns the size in bytes; undefined for a missing file. Throws
   * origin-answer for anything but a file, and for a larger one.
   */
  async measure(
    parts: readonly string[],
    most = Infinity,
  ): Promise<number | undefined> {
    this.#check(parts);
    const size = await this.measureNamed(parts);
    if (size !== undefined && size > most) throw this.#tooLarge(parts, most);
    return size;
  }

  /** Throws origin-answer also for a missing file. */
  async *stream(
    parts: readonly string[],
    most = Infinity,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    await using file = await this.#open(parts, most);
    if (file === undefined) throw this.unusable(parts, "it is gone");
    for await (const piece of this.#bound(file, parts, most)) {
      signal?.throwIfAborted();
      yield piece;
    }
  }

  /**
   * Opens the archive when it is read, so that nothing stays open without a
   * reader. Returns undefined for a missing file.
   */
  async archive(
    parts: readonly string[],
    most: number,
    signal: AbortSignal,
  ): Promise<OriginArchive | undefined> {
    const size = await this.measure(parts, most);
    if (size === undefined) return undefined;
    const body = this.stream(parts, most, signal);
    const contentType = "application/octet-stream";
    return { url: this.urlOf(parts), contentType, size, body };
  }

  protected unusable(
    parts: readonly string[],
    reason: string,
  ): Failure<"origin-answer"> {
    return failure("origin-answer", this.nameOf(parts), reason);
  }

  async *#bound(
    file: FolderFile,
    parts: readonly string[],
    most: number,
  ): AsyncGenerator<Uint8Array> {
    let position = 0;
    for await (const piece of file.pieces()) {
      position += piece.length;
      if (position > most) throw this.#tooLarge(parts, most);
      yield piece;
    }
  }

  async #open(
    parts: readonly string[],
    most: number,
  ): Promise<FolderFile | undefined> {
    this.#check(parts);
    const file = await this.openNamed(parts);
    if (file === undefined || file.size <= most) return file;
    await file[Symbol.asyncDispose]();
    throw this.#tooLarge(parts, most);
  }

  #check(parts: readonly string[]): void {
    if (!parts.every(isFileName))
      throw this.unusable(parts, "it is no name of a file");
  }

  #tooLarge(parts: readonly string[], most: number): Failure<"origin-answer"> {
    return this.unusable(parts, `it has more than ${most} bytes`);
  }
}

/** Checks a name. Object stores also allow `..` and empty ones. */
function isFileName(name: string): boolean {
  return !/^\.{0,2}$|[/\\\0]/.test(name);
}
