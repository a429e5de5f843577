const kibi = 1024;
/** Larger reads cost fewer turns per byte than Node's 64 KiB. */
export const readSize = 256 * kibi;
const smallestRead = 32 * kibi;
/** A TLS record's worth. */
const step = 16 * kibi;
/** What many readers of larger pieces may have in memory together. */
const memoryOfReaders = 4 * kibi * kibi;

/** Bytes that each of so many readers takes at once. */
function readSizeFor(readers: number): number {
  const share = Math.floor(memoryOfReaders / readers / step) * step;
  return Math.max(smallestRead, Math.min(readSize, share));
}

/**
 * The memory of one reader, used again for every piece: what hundreds of
 * readers leave behind would fill the memory before it is collected.
 */
export class PieceBuffers {
  readonly #buffers: Buffer[] = [];
  #turn = 0;

  /** As many pieces as `count` stay good; the one before them is overwritten. */
  constructor(count: number) {
    for (let n = 0; n < count; n++)
      this.#buffers.push(Buffer.allocUnsafeSlow(0));
  }

  /** Room for a piece of up to `most` bytes, within the share of `readers`. */
  take(readers: number, most: number): Buffer {
    const size = readSizeFor(readers);
    this.#turn = (this.#turn + 1) % this.#buffers.length;
    let buffer = this.#buffers[this.#turn];
    if (buffer?.length !== size) {
      // Its piece was used long ago, and a collection may be far away.
      if (buffer !== undefined) free(buffer);
      buffer = Buffer.allocUnsafeSlow(size);
      this.#buffers[this.#turn] = buffer;
    }
    return buffer.subarray(0, most);
  }
}

function free({ buffer }: Buffer): void {
  if (!(buffer instanceof SharedArrayBuffer)) buffer.transfer(0);
}
