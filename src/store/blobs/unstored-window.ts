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
export class UnstoredWindow {
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

export type WindowFollower = ReturnType<UnstoredWindow["follow"]>;
