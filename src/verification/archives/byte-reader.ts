/** Exact reads from a sequence of pieces. */
export class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  #left: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#pieces =
      Symbol.asyncIterator in pieces
        ? pieces[Symbol.asyncIterator]()
        : pieces[Symbol.iterator]();
  }

  /** Fewer than `length` bytes only at the end. */
  async readUpTo(length: number): Promise<Buffer> {
    const taken: Buffer[] = [];
    let missing = length;
    while (missing > 0 && (await this.#fill())) {
      const piece = this.#left.subarray(0, missing);
      this.#left = this.#left.subarray(piece.length);
      missing -= piece.length;
      taken.push(piece);
    }
    return Buffer.concat(taken);
  }

  /** False when it ended before. */
  async skip(length: number): Promise<boolean> {
    let missing = length;
    while (missing > 0 && (await this.#fill())) {
      const skipped = Math.min(missing, this.#left.length);
      this.#left = this.#left.subarray(skipped);
      missing -= skipped;
    }
    return missing === 0;
  }

  /** False at the end. */
  async #fill(): Promise<boolean> {
    while (this.#left.length === 0) {
      const next = await this.#pieces.next();
      if (next.done === true) return false;
      this.#left = Buffer.from(
        next.value.buffer,
        next.value.byteOffset,
        next.value.length,
      );
    }
    return true;
  }
}
