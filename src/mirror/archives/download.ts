import { failure } from "../../errors/index.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";
import type { BlobStore, StoredBlob } from "../../store/blobs/blob-store.ts";
import type { Spool } from "../../store/blobs/spool.ts";
import type { TrustedSha256 } from "../../verification/signed-checksums.ts";
import { type ArchiveStore, receiveWhole } from "./room.ts";

/** Something that happens once, or never, and that perhaps nothing waits for. */
function makeEvent(): PromiseWithResolvers<void> {
  const event = Promise.withResolvers<void>();
  event.promise.catch(() => undefined);
  return event;
}

/**
 * One archive on its way from the origin into the store: one writer that waits
 * for no reader, and any number of readers that follow at their own pace.
 * No reader gets the last `heldBack` bytes of what it asked for, nor any byte of
 * an archive of up to `heldWhole`, before the digest of the whole matched.
 */
export class Download {
  readonly sha256: TrustedSha256;
  /** Hostname of the origin. */
  readonly origin: string;
  readonly #name: string;
  readonly #admitted = makeEvent();
  readonly #started = makeEvent();
  readonly #stored = makeEvent();
  readonly #canceling = new AbortController();
  /** Resolves when it is this download's turn to ask the origin. */
  readonly admitted = this.#admitted.promise;
  /** Settles when the origin has answered and the size, if announced, is known. */
  readonly started = this.#started.promise;
  /** Settles when the archive can be opened from the store, or never will be from this download. */
  readonly stored = this.#stored.promise;
  /** Aborted when nothing waits for the archive any longer. */
  readonly canceled = this.#canceling.signal;
  #progress = Promise.withResolvers<void>();
  #state: "running" | "verified" | { readonly error: unknown } = "running";
  #file: Spool | undefined;
  #size: number | undefined;
  #readers = 0;
  #hasEnded = false;

  /** `name` is the archive's, for errors. */
  constructor(sha256: TrustedSha256, name: string, origin: string) {
    this.sha256 = sha256;
    this.#name = name;
    this.origin = origin;
  }

  get size(): number | undefined {
    return this.#size;
  }

  get received(): number {
    return this.#file?.written ?? 0;
  }

  /** True while a client reads it, or waits for it to be stored. */
  get isRead(): boolean {
    return this.#readers > 0;
  }

  /** False once it was given up: a new request must not join it. */
  get isJoinable(): boolean {
    return this.#state === "verified" || !this.canceled.aborted;
  }

  /** Ends it, unless a reader has joined. */
  cancel(reason: unknown): void {
    if (!this.isRead) this.#canceling.abort(reason);
  }

  /**
   * Receives, verifies and stores. Readers get the tail once the digest matched and need not wait for the disk.
   * `onVerified` runs before any of them has the last byte. The caller says how it went by `end`.
   */
  async receive(
    open: () => Promise<OriginArchive>,
    store: ArchiveStore,
    signal: AbortSignal,
    onVerified: () => void,
  ): Promise<void> {
    this.#admitted.resolve();
    const { size, body } = await open();
    this.#size = size;
    const named = { subject: "the archive", size };
    await receiveWhole(store, named, async (file, append) => {
      file.hold();
      this.#file = file;
      this.#started.resolve();
      for await (const chunk of body) {
        signal.throwIfAborted();
        await append(chunk);
        this.#wake();
      }
      const { written } = file;
      if (size !== undefined && written !== size)
        throw failure(
          "origin-answer",
          this.#name,
          `${written} bytes came, ${size} were announced`,
        );
      const got = file.digest();
      if (got !== this.sha256)
        throw failure("archive-digest", this.#name, this.sha256, got);
      this.#size = written;
      onVerified();
      this.#state = "verified";
      this.#wake();
      await store.blobs.commit(file, this.sha256);
    });
  }

  /** The archive can be opened from the store by now; with `error`, it will not be from this download. Readers of what was verified get all of it even so. */
  async end(error?: unknown): Promise<void> {
    if (error === undefined) this.#stored.resolve();
    else {
      if (this.#state === "running") this.#state = { error };
      for (const event of [this.#admitted, this.#started, this.#stored])
        event.reject(error);
      // A body of which nothing was read ends with its request.
      this.#canceling.abort(error);
    }
    this.#wake();
    this.#hasEnded = true;
    await this.#closeFile();
  }

  /** Keeps the file open until the reader leaves. */
  join(): void {
    this.#readers++;
  }

  async leave(): Promise<void> {
    this.#readers--;
    await this.#closeFile();
  }

  /** For one that has joined; `readers` share the memory. Each piece is good until the next one is asked for. */
  async *read(
    range: ByteRange | undefined,
    readers: () => number,
  ): AsyncGenerator<Uint8Array> {
    const take = pieceBuffers(1, readers);
    const end = range?.end ?? Infinity;
    let position = range?.start ?? 0;
    for (;;) {
      const stop = this.#releasedUpTo(end);
      if (this.#file !== undefined && position < stop) {
        const piece = await this.#file.read(take(stop - position), position);
        position += piece.length;
        yield piece;
      } else if (this.#state === "running") await this.#progress.promise;
      else if (this.#state === "verified") return;
      else throw this.#state.error;
    }
  }

  /** What readers of a body that ends at `end` may have by now: no body, be it of a range, is whole before the digest matched. */
  #releasedUpTo(end: number): number {
    const come = Math.min(this.received, end);
    if (this.#state === "verified") return come;
    const isSmall = (this.#size ?? this.received) <= heldWhole;
    return isSmall ? 0 : come - heldBack;
  }

  #wake(): void {
    const { resolve } = this.#progress;
    this.#progress = Promise.withResolvers();
    resolve();
  }

  /** Once it has ended, which nothing joins any longer, and the last reader has left. */
  async #closeFile(): Promise<void> {
    if (this.#hasEnded && !this.isRead) await this.#file?.release();
  }
}

/** Bytes `start` up to but not including `end`; without `end`, up to the archive's last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number | undefined;
}

const kibi = 1024;
/** Bytes at the end of each body that readers get only after the digest matched. */
export const heldBack = 64 * kibi;
/** Bytes of an archive that readers get none of before, so that a wrong one is refused with a reason. */
export const heldWhole = 8 * kibi * kibi;
/** Larger reads cost fewer turns per byte than Node's 64 KiB. */
export const readSize = 256 * kibi;
const smallestRead = 32 * kibi;
/** Bytes in memory for many readers of larger pieces together. */
const memoryOfReaders = 4 * kibi * kibi;

/**
 * The memory of one reader, used again for every piece: what hundreds of readers leave behind would fill the memory
 * before it is collected. Returns room for a piece of up to `most` bytes, within the share of `readers`; the last
 * `count` pieces stay valid, and the one before them is overwritten.
 */
function pieceBuffers(count: number, readers: () => number) {
  const buffers: Buffer[] = [];
  let turn = 0;
  return (most: number): Buffer => {
    // A power of two.
    const share = 2 ** Math.floor(Math.log2(memoryOfReaders / readers()));
    const size = Math.max(smallestRead, Math.min(readSize, share));
    turn = (turn + 1) % count;
    let buffer = buffers[turn];
    if (buffer === undefined || buffer.length < size) {
      buffer = Buffer.allocUnsafeSlow(size);
      buffers[turn] = buffer;
    }
    return buffer.subarray(0, Math.min(size, most));
  };
}

/**
 * Reads a stored archive or a range of it; the next piece is read while the current one is used. Its last `heldBack`
 * bytes come only after the file's digest is verified, so that a damaged file is never complete.
 */
export async function* readStored(
  blobs: BlobStore,
  blob: StoredBlob,
  range: ByteRange | undefined,
  readers: () => number,
): AsyncGenerator<Uint8Array> {
  const start = range?.start ?? 0;
  const end = Math.min(range?.end ?? blob.size, blob.size);
  const take = pieceBuffers(2, readers);
  const readAt = (position: number, stop: number) =>
    position < stop
      ? blobs.read(blob, take(stop - position), position)
      : undefined;
  const readTo = async function* (position: number, stop: number) {
    let ahead = readAt(position, stop);
    while (ahead !== undefined) {
      const piece = await ahead;
      position += piece.length;
      ahead = readAt(position, stop);
      // A reader that leaves now never learns how this read ended.
      ahead?.catch(() => undefined);
      yield piece;
    }
  };
  const released = Math.max(start, end - heldBack);
  yield* readTo(start, released);
  await blobs.verify(blob);
  yield* readTo(released, end);
}
