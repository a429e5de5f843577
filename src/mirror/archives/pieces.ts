import type { BlobStore, StoredBlob } from "../../store/blobs/blob-store.ts";

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

/** Bytes that each of so many readers takes at once: a power of two. */
function readSizeFor(readers: number): number {
  const share = 2 ** Math.floor(Math.log2(memoryOfReaders / readers));
  return Math.max(smallestRead, Math.min(readSize, share));
}

/**
 * The memory of one reader, used again for every piece: what hundreds of
 * readers leave behind would fill the memory before it is collected.
 */
export class PieceBuffers {
  readonly #buffers: Buffer[];
  #turn = 0;

  /**
   * Creates buffers so that the last `count` pieces stay valid; the one before
   * them is overwritten.
   */
  constructor(count: number) {
    this.#buffers = Array.from({ length: count }, () => Buffer.alloc(0));
  }

  /** Room for a piece of up to `most` bytes, within the share of `readers`. */
  take(readers: number, most: number): Buffer {
    const size = readSizeFor(readers);
    this.#turn = (this.#turn + 1) % this.#buffers.length;
    let buffer = this.#buffers[this.#turn];
    if (buffer === undefined || buffer.length < size) {
      buffer = Buffer.allocUnsafeSlow(size);
      this.#buffers[this.#turn] = buffer;
    }
    return buffer.subarray(0, Math.min(size, most));
  }
}

/**
 * Reads a stored archive or a range of it; the next piece is read while the
 * current one is used.
 * Its last `heldBack` bytes come only after the file's digest is verified, so
 * that a damaged file is never complete.
 */
export async function* readStored(
  blobs: BlobStore,
  blob: StoredBlob,
  range: ByteRange | undefined,
  readers: () => number,
): AsyncGenerator<Uint8Array> {
  const start = range?.start ?? 0;
  const end = Math.min(range?.end ?? blob.size, blob.size);
  const buffers = new PieceBuffers(2);
  const readAt = (position: number, stop: number) =>
    position < stop
      ? blobs.read(blob, buffers.take(readers(), stop - position), position)
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
