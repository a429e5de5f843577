const kibi = 1024;
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
