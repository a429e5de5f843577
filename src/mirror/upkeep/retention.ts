import pLimit from "p-limit";
import type { Sha256 } from "../../address/hash.ts";
import type {
  BlobCount,
  BlobStore,
  UsedBlob,
} from "../../store/blobs/blob-store.ts";
import type { DirectoryLimits } from "../../store/storage-directory.ts";
import type { StoreUse } from "../../telemetry/metrics.ts";
import type { Room } from "../archives/room.ts";
import { orderByUse, sumOf } from "./pruning.ts";

interface RetentionParts {
  readonly blobs: BlobStore;
  readonly limits: DirectoryLimits;
  /** Nothing that leaves could be fetched again: it leaves only for `maxSize`. */
  readonly offline: boolean;
  /** Archives that no origin could give again. */
  readonly listIrreplaceable: () => Promise<ReadonlySet<Sha256>>;
  readonly onEvicted: (blob: UsedBlob) => void;
  readonly measureRecords: () => Promise<number>;
}

interface Held {
  size: number;
  readonly written: () => number;
}

/** Free files (inodes) that one archive and its records need, with some to spare. */
const leastFiles = 16;
/** Milliseconds for which a count is good although other processes may have removed archives. */
const countedFor = 1_000;
/** Archives from which on a little more than asked for is evicted, so that the store is not listed for each. */
const manyArchives = 1_000;

/**
 * Keeps the store within its size, and the disk's free space above `minFree`.
 * Reserves room as the bytes of an archive arrive, by evicting the least
 * recently used.
 */
export class Retention {
  readonly #parts: RetentionParts;
  readonly #held = new Set<Held>();
  readonly #turn = pLimit(1);
  #measured: BlobCount | undefined;
  #measuredAt = -Infinity;
  #isOutdated = false;
  /** Bytes as last counted; 0 before, so that no request waits for the count. */
  #recordBytes = 0;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    parts.blobs.listen({
      onStored: (size) => this.#adjust(1, size),
      onDamaged: () => void this.#count().catch(() => undefined),
    });
  }

  /**
   * Opens the account of one archive with its announced bytes; undefined when
   * they could not be stored after any evictions.
   */
  async reserve(
    announced: number | undefined,
    written: () => number,
  ): Promise<Room | undefined> {
    const couldFit = async () => {
      const missing = await this.#findMissing(announced ?? 0);
      return missing <= 0 || (await this.#listLeaving(missing)) !== undefined;
    };
    if (!(await this.#turn(couldFit).catch(() => false))) return undefined;
    const held: Held = { size: 0, written };
    this.#held.add(held);
    return {
      get size() {
        return held.size;
      },
      grow: (least, most) =>
        this.#turn(() => this.#extend(held, least, most)).catch(() => false),
      release: () => void this.#held.delete(held),
    };
  }

  /** Counts what is stored, and the bytes of all records. */
  async measure(): Promise<void> {
    await this.#count();
    this.#recordBytes = await this.#parts.measureRecords();
  }

  /** Counts again before room is made: other processes may have stored or removed archives. */
  forget(): void {
    this.#isOutdated = true;
  }

  /** Maintains the store in the background: counts, and evicts what exceeds `maxSize`. */
  async tend(): Promise<void> {
    await this.#parts.blobs.usage.trim();
    await this.measure();
    await this.#turn(async () => {
      const excess = this.#excess();
      if (excess > 0) await this.#evict(excess);
    });
  }

  /** The last count, without waiting for a new one; undefined before the first one. */
  async readFigures(): Promise<StoreUse | undefined> {
    const { bytes: freeBytes } = await this.#parts.blobs.measureFree();
    const recordBytes = this.#recordBytes;
    return this.#measured && { ...this.#measured, recordBytes, freeBytes };
  }

  async #count(): Promise<void> {
    const at = performance.now();
    this.#isOutdated = false;
    this.#measured = await this.#parts.blobs.count();
    this.#measuredAt = at;
  }

  async #extend(held: Held, least: number, most: number): Promise<boolean> {
    const fits = (await this.#findMissing(most)) <= 0;
    const bytes = fits ? most : least;
    const missing = fits ? 0 : await this.#findMissing(least);
    if (missing > 0 && !(await this.#evict(missing))) return false;
    held.size += bytes;
    return true;
  }

  /** Bytes that would have to leave before so many may come. */
  async #findMissing(bytes: number): Promise<number> {
    const { blobs, limits } = this.#parts;
    const { maxSize = Infinity, minFree } = limits;
    const free = await blobs.measureFree();
    if ((free.files ?? Infinity) < leastFiles) return Infinity;
    const overFree = bytes + this.#outstanding() + minFree - free.bytes;
    if (maxSize === Infinity) return Math.max(0, overFree);
    if (this.#measured === undefined || this.#isOutdated) await this.#count();
    // What other processes removed leaves room.
    const isOld = performance.now() - this.#measuredAt > countedFor;
    if (isOld && this.#excess() + bytes > 0) await this.#count();
    const overSize = this.#excess() + bytes;
    return Math.max(0, overFree, bytes > maxSize ? Infinity : overSize);
  }

  /** False when that much cannot leave. */
  async #evict(bytes: number): Promise<boolean> {
    const { blobs, limits, onEvicted } = this.#parts;
    const order = await this.#listLeaving(bytes);
    if (order === undefined) return false;
    const spare = order.length > manyArchives ? (limits.maxSize ?? 0) / 100 : 0;
    let left = bytes + spare;
    for (const blob of order) {
      if (left <= 0) break;
      await blobs.delete(blob.sha256);
      this.#adjust(-1, -blob.size);
      left -= blob.size;
      onEvicted(blob);
    }
    return true;
  }

  /** Lists evictable archives in order; undefined when they free fewer bytes. */
  async #listLeaving(bytes: number): Promise<readonly UsedBlob[] | undefined> {
    const { blobs, limits, offline, listIrreplaceable } = this.#parts;
    if (bytes === Infinity) return undefined;
    if (offline && limits.maxSize === undefined) return undefined;
    const order = await orderByUse(blobs, await listIrreplaceable());
    return sumOf(order) < bytes ? undefined : order;
  }

  #adjust(archives: number, bytes: number): void {
    const before = this.#measured;
    this.#measured = before && {
      archives: before.archives + archives,
      bytes: before.bytes + bytes,
    };
  }

  /** Bytes above `maxSize`, with what is promised; below 0 while there is room. */
  #excess(): number {
    const { maxSize = Infinity } = this.#parts.limits;
    const { bytes = 0 } = this.#measured ?? {};
    return bytes + this.#recordBytes + sumOf([...this.#held]) - maxSize;
  }

  /** Bytes that are promised and that the disk does not have yet. */
  #outstanding(): number {
    return [...this.#held].reduce(
      (sum, { size, written }) => sum + Math.max(0, size - written()),
      0,
    );
  }
}
