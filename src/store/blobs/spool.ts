import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import type { Sha256 } from "../../address/hash.ts";
import { type Failure, isFailure } from "../../errors/index.ts";
import { refuseToStore } from "../file-failure.ts";

/** Reader of a spool that is still written; close it when done. */
export interface SpoolReader {
  /** At least one byte where something was written. Throws store-full for one who was too slow for what could not be stored. */
  read(buffer: Buffer, position: number): Promise<Buffer>;
  close(): Promise<void>;
}

/**
 * File that is being received. One writer appends and hashes; any number of
 * readers follow through the same handle.
 * The handle stays valid after the file is renamed or removed, and closes with
 * its last holder. When the disk is full, the rest is in memory until the
 * readers have it. The whole can then be verified but not stored.
 */
export class Spool {
  readonly path: string;
  readonly #hash = createHash("sha256");
  #handle: FileHandle | undefined;
  #written = 0;
  #holders = 1;
  #window: UnstoredWindow | undefined;
  /** Reason for not storing the rest. */
  #problem: unknown;
  /** The bytes before this one are in the file. */
  #onDisk = Infinity;
  readonly #readers = new Set<{ follower: WindowFollower | undefined }>();

  /** The caller is its first holder; `open` comes before the first append. */
  constructor(path: string) {
    this.path = path;
  }

  /** Makes the file: a new one that no other process has. */
  async open(): Promise<void> {
    this.#handle = await open(this.path, "wx+", 0o600);
  }

  get written(): number {
    return this.#written;
  }

  /** Throws store-full where not everything is in the file. */
  get handle(): FileHandle {
    if (this.#handle === undefined || this.#window !== undefined)
      throw this.refusal();
    return this.#handle;
  }

  get isUnstored(): boolean {
    return this.#window !== undefined;
  }

  /** True while a new reader can have everything from the first byte on. */
  get isWhole(): boolean {
    return this.#window === undefined || this.#window.start === this.#onDisk;
  }

  /** Stops writing to the disk; `problem` is the reason. */
  streamUnstored(problem: unknown): void {
    if (this.#window !== undefined) return;
    this.#problem = problem;
    this.#onDisk = this.#written;
    this.#window = new UnstoredWindow(this.#written);
    for (const reader of this.#readers) reader.follower = this.#window.follow();
  }

  async append(chunk: Uint8Array): Promise<void> {
    if (this.#window === undefined) await this.#write(chunk);
    else if (!(await this.#window.append(chunk))) throw this.refusal();
    this.#hash.update(chunk);
    this.#written += chunk.length;
  }

  /** Ends the hash; call once, after the last append. */
  digest(): Sha256 {
    return this.#hash.digest("hex") as Sha256;
  }

  /** The bytes at `position`, as many as `buffer` takes, in its memory. */
  async read(buffer: Buffer, position: number): Promise<Buffer> {
    if (this.#handle === undefined) throw this.refusal();
    const { length } = buffer;
    const { bytesRead } = await this.#handle.read(buffer, 0, length, position);
    return buffer.subarray(0, bytesRead);
  }

  /** Keeps the file open, and in memory what is not stored, until it is closed. */
  follow(): SpoolReader {
    this.hold();
    const reader = { follower: this.#window?.follow() };
    this.#readers.add(reader);
    return {
      read: (buffer, position) => this.#readFor(reader, buffer, position),
      close: () => {
        this.#readers.delete(reader);
        if (reader.follower !== undefined)
          this.#window?.unfollow(reader.follower);
        return this.release();
      },
    };
  }

  hold(): void {
    this.#holders++;
  }

  async release(): Promise<void> {
    if (--this.#holders === 0) await this.#handle?.close();
  }

  /** Takes the file's name away; readers that follow keep what they have. */
  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }

  async #readFor(
    { follower }: { readonly follower: WindowFollower | undefined },
    buffer: Buffer,
    position: number,
  ): Promise<Buffer> {
    if (this.#window === undefined || follower === undefined)
      return this.read(buffer, position);
    if (position < this.#onDisk) {
      this.#window.advance(follower, position);
      return this.read(buffer.subarray(0, this.#onDisk - position), position);
    }
    const length = this.#window.read(follower, buffer, position);
    if (length === 0) throw this.refusal();
    return buffer.subarray(0, length);
  }

  async #write(chunk: Uint8Array): Promise<void> {
    let done = 0;
    while (done < chunk.length) {
      const { bytesWritten } = await this.#fileOf().write(
        chunk,
        done,
        chunk.length - done,
        this.#written + done,
      );
      done += bytesWritten;
    }
  }

  #fileOf(): FileHandle {
    if (this.#handle === undefined) throw this.refusal();
    return this.#handle;
  }

  /** Returns the error for bytes that are not stored. */
  refusal(): Failure<"store-full"> {
    return isFailure(this.#problem, "store-full")
      ? this.#problem
      : refuseToStore("the archive", this.#problem);
  }
}

/** Position of a follower, which needs no bytes before it. */
interface Follower {
  position: number;
  /** Time on the monotonic clock. */
  movedAt: number;
  /** It was too slow, and what it needs next is gone. */
  lost: boolean;
}

interface Piece {
  readonly start: number;
  readonly bytes: Uint8Array;
}

/** Bytes that are in memory for one archive. */
const windowSize = 4 * 1024 * 1024;
/** Milliseconds that all wait for one that takes nothing before it is left behind. */
const patience = 5_000;

/**
 * The bytes of an archive that cannot be stored: those that
 * some follower still needs, and never more than `windowSize`. The writer waits
 * for the followers, for a while.
 */
class UnstoredWindow {
  readonly #followers = new Set<Follower>();
  readonly #pieces: Piece[] = [];
  #start: number;
  #end: number;
  #moved = Promise.withResolvers<void>();

  /** Sets the position of the next byte. */
  constructor(start: number) {
    this.#start = start;
    this.#end = start;
  }

  /** The first byte that is still here. */
  get start(): number {
    return this.#start;
  }

  /** False when no reader follows any longer. */
  async append(bytes: Uint8Array): Promise<boolean> {
    while (
      this.#pieces.length > 0 &&
      this.#end - this.#start + bytes.length > windowSize
    )
      if (!this.#forget() && !this.#leaveBehind(bytes.length))
        await this.#untilMoved();
    this.#pieces.push({ start: this.#end, bytes });
    this.#end += bytes.length;
    return this.#followers.size > 0;
  }

  follow(): Follower {
    const movedAt = performance.now();
    const follower = { position: 0, movedAt, lost: false };
    this.#followers.add(follower);
    return follower;
  }

  unfollow(follower: Follower): void {
    this.#followers.delete(follower);
    this.#moved.resolve();
  }

  /** Copies what `buffer` takes of the bytes at `position`; 0 when they are gone. Says that what is before is not needed. */
  read(follower: Follower, buffer: Buffer, position: number): number {
    this.advance(follower, position);
    if (follower.lost || position < this.#start) return 0;
    let copied = 0;
    for (const { start, bytes } of this.#pieces) {
      const at = position + copied - start;
      if (at >= bytes.length) continue;
      const part = bytes.subarray(at, at + buffer.length - copied);
      buffer.set(part, copied);
      copied += part.length;
      if (copied === buffer.length) break;
    }
    return copied;
  }

  advance(follower: Follower, position: number): void {
    if (position > follower.position) {
      follower.position = position;
      follower.movedAt = performance.now();
    }
    this.#moved.resolve();
  }

  /** Drops what no follower needs; false when that is nothing. */
  #forget(): boolean {
    const needed = Math.min(
      this.#end,
      ...[...this.#followers].map(({ position }) => position),
    );
    const [first] = this.#pieces;
    if (first === undefined || first.start + first.bytes.length > needed)
      return false;
    this.#pieces.shift();
    this.#start = first.start + first.bytes.length;
    return true;
  }

  /** False when no reader stood still for too long. */
  #leaveBehind(coming: number): boolean {
    const least = this.#end + coming - windowSize;
    const still = performance.now() - patience;
    const left = [...this.#followers].filter(
      ({ position, movedAt }) => position < least && movedAt <= still,
    );
    for (const follower of left) {
      follower.lost = true;
      this.#followers.delete(follower);
    }
    return left.length > 0;
  }

  async #untilMoved(): Promise<void> {
    this.#moved = Promise.withResolvers();
    const timer = setTimeout(this.#moved.resolve, patience / 5);
    await this.#moved.promise;
    clearTimeout(timer);
  }
}

type WindowFollower = ReturnType<UnstoredWindow["follow"]>;
