import type { Sha256 } from "../../address/hash.ts";
import { failure } from "../../errors/index.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import {
  classifyFileFailure,
  refuseToStore,
} from "../../store/file-failure.ts";
import type { Spool } from "../../store/blobs/spool.ts";
import type { TrustedSha256 } from "../../verification/signed-checksums.ts";
import {
  makeRoom,
  refuseForRoom,
  type DownloadSteps,
  type Room,
} from "./download-steps.ts";
import { PieceBuffers } from "./piece-buffers.ts";

/** Bytes `start` up to but not including `end`; without `end`, up to the archive's last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number | undefined;
}

/** An archive that can be read, whether it is stored, joined in flight or just started; close it when done. */
export interface ReadableArchive {
  readonly sha256: Sha256;
  /** Undefined while the origin has not said it. */
  readonly size: number | undefined;
  /** Each piece is good until the next one is asked for. */
  read(range?: ByteRange): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Bytes at the end of each body that readers get only after the digest matched. */
export const heldBack = 64 * 1024;
/** Bytes of an archive that readers get none of before, so that a wrong one is refused with a reason. */
export const heldWhole = 8 * 1024 * 1024;
type State =
  | { readonly is: "downloading" }
  | { readonly is: "verified" }
  | { readonly is: "failed"; readonly error: unknown };

/**
 * One archive on its way from the origin: one writer that waits for no reader,
 * and any number of readers that follow at their own pace. No reader gets the
 * last `heldBack` bytes before the digest of the whole matched.
 */
export class ArchiveDownload {
  readonly sha256: TrustedSha256;
  /** Resolves when it is this download's turn to ask the origin; rejects when that does not come. */
  readonly admitted: Promise<void>;
  /** Settles when the origin has answered and the size, if announced, is known. */
  readonly started: Promise<void>;
  /** Settles when the archive can be opened from the store, or never will be from this download. */
  readonly stored: Promise<void>;
  readonly #name: string;
  readonly #spool: Spool;
  readonly #admit = Promise.withResolvers<void>();
  readonly #start = Promise.withResolvers<void>();
  readonly #store = Promise.withResolvers<void>();
  readonly #abandoned = new AbortController();
  #size: number | undefined;
  #room: Room | undefined;
  #readers = 0;
  #hasBegun = false;
  #state: State = { is: "downloading" };
  #progress = Promise.withResolvers<void>();

  /** `name` is the archive's, for errors. */
  constructor(sha256: TrustedSha256, name: string, spool: Spool) {
    this.sha256 = sha256;
    this.#name = name;
    this.#spool = spool;
    this.admitted = this.#admit.promise;
    this.admitted.catch(() => undefined);
    this.started = this.#start.promise;
    this.started.catch(() => undefined);
    this.stored = this.#store.promise;
    this.stored.catch(() => undefined);
  }

  get size(): number | undefined {
    return this.#size;
  }

  /** Bytes received from the origin so far. */
  get received(): number {
    return this.#spool.written;
  }

  /** True while a client reads it, or waits for it to be stored. */
  get isFollowed(): boolean {
    return this.#readers > 0;
  }

  /** Aborted when nothing waits for the archive any longer. */
  get abandoned(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** Ends it, unless a reader has joined. */
  abandon(): void {
    if (this.isFollowed) return;
    this.#abandoned.abort(failure("not-ready", "nothing waits for it"));
  }

  get isVerified(): boolean {
    return this.#state.is === "verified";
  }

  /** Fails a download whose turn never came, so that `run` was never called. */
  async giveUp(error: unknown): Promise<void> {
    if (this.#hasBegun) return;
    this.#admit.reject(error);
    this.#store.reject(error);
    await this.#fail(error);
    await this.#spool.release();
  }

  /**
   * Receives, verifies and stores. Readers get the tail once the digest matched
   * and need not wait for the disk. Rejects as the readers do, or when what was
   * verified could not be stored.
   */
  async run(
    opening: Promise<OriginArchive>,
    blobs: BlobStore,
    steps: DownloadSteps,
  ): Promise<void> {
    this.#hasBegun = true;
    this.#admit.resolve();
    try {
      await this.#receive(await opening, steps);
      this.#verify();
      steps.verified();
      this.#become({ is: "verified" });
      await blobs.commit(this.#spool, this.sha256);
      steps.leave();
      this.#store.resolve();
    } catch (error) {
      steps.leave();
      this.#store.reject(error);
      await this.#fail(error);
      throw error;
    } finally {
      this.#room?.release();
      await this.#spool.release();
    }
  }

  /** A view of this download for one reader; it keeps the file open until it is closed. */
  join(): ReadableArchive {
    this.#spool.hold();
    this.#readers++;
    const size = () => this.#size;
    return {
      sha256: this.sha256,
      get size() {
        return size();
      },
      read: (range) => this.#read(range ?? { start: 0, end: undefined }),
      close: () => {
        this.#readers--;
        return this.#spool.release();
      },
    };
  }

  async #receive(archive: OriginArchive, steps: DownloadSteps): Promise<void> {
    this.#size = archive.size;
    await this.#openSpool(archive.size, steps);
    this.#start.resolve();
    for await (const chunk of archive.body) {
      await this.#makeRoom(chunk.length);
      await this.#spool.append(chunk).catch(refuseIfDiskFails);
      this.#wake();
    }
    const { written } = this.#spool;
    if (this.#size !== undefined && written !== this.#size)
      throw failure(
        "origin-answer",
        this.#name,
        `${written} bytes came, ${this.#size} were announced`,
      );
  }

  async #openSpool(
    size: number | undefined,
    steps: DownloadSteps,
  ): Promise<void> {
    const spool = this.#spool;
    if (steps.reserve !== undefined) {
      this.#room = await steps.reserve(size, () => spool.written);
      if (this.#room === undefined) throw refuseForRoom("the archive");
    }
    await spool.open().catch(refuseIfDiskFails);
  }

  async #makeRoom(coming: number): Promise<void> {
    const room = this.#room;
    if (room === undefined) return;
    if (!(await makeRoom(room, this.#size, this.received, coming)))
      throw refuseForRoom("the archive");
  }

  #verify(): void {
    const got = this.#spool.digest();
    if (got !== this.sha256)
      throw failure("archive-digest", this.#name, this.sha256, got);
    this.#size = this.#spool.written;
  }

  async #fail(error: unknown): Promise<void> {
    // A verified archive stays valid even when it could not be stored.
    if (this.#state.is === "downloading") this.#become({ is: "failed", error });
    this.#start.reject(error);
    await this.#spool.remove();
  }

  #become(state: State): void {
    this.#state = state;
    this.#wake();
  }

  #wake(): void {
    const { resolve } = this.#progress;
    this.#progress = Promise.withResolvers();
    resolve();
  }

  async *#read(range: ByteRange): AsyncGenerator<Uint8Array> {
    const buffers = new PieceBuffers(1);
    let position = range.start;
    for (;;) {
      const end = this.#readableEnd(range);
      if (position < end) {
        const buffer = buffers.take(this.#readers, end - position);
        const piece = await this.#spool.read(buffer, position);
        position += piece.length;
        yield piece;
      } else if (this.#state.is === "downloading") {
        await this.#progress.promise;
      } else if (this.#state.is === "failed") {
        throw this.#state.error;
      } else return;
    }
  }

  #readableEnd(range: ByteRange): number {
    const { written } = this.#spool;
    const end = Math.min(written, range.end ?? Infinity);
    if (this.#state.is === "verified") return end;
    const isSmall = (this.#size ?? written) <= heldWhole;
    return isSmall ? 0 : end - heldBack;
  }
}

/** A disk that does not take the archive is no reason to doubt its origin. */
function refuseIfDiskFails(error: unknown): never {
  if (classifyFileFailure(error) === undefined) throw error;
  throw refuseToStore("the archive", error);
}
