import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isSha256, type Sha256 } from "../../address/hash.ts";
import { isBucketFailure } from "../../errors/index.ts";
import type { BlobStore } from "../blobs/blob-store.ts";
import type { StoreLayout } from "../layout.ts";
import type { Bucket } from "./bucket.ts";

/** Archives that may wait; more would keep a full disk from making room. */
const most = 10_000;
/** Archives that are sent at once. */
const atOnce = 2;
/** Milliseconds until a bucket that failed is tried again. */
const pause = 2_000;

interface Waiting {
  /** Resolves when the disk has a note of it, or takes none. */
  readonly noted: Promise<unknown>;
  readonly endUse: () => void;
}

/**
 * The archives of the bucket for one daemon, and what it brings there: each has a file in the outbox until it is there, so
 * that a daemon that was killed goes on. While they wait they do not leave the disk.
 */
export class SharedArchives {
  readonly #folder: string;
  readonly #blobs: BlobStore;
  readonly #bucket: Bucket;
  readonly #largest: number;
  readonly #onDropped: (sha256: Sha256, reason: string) => void;
  readonly #waiting = new Map<Sha256, Waiting>();
  readonly #sending = new Map<Sha256, Promise<void>>();
  readonly #wrong = new Set<Sha256>();
  #pause: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `onDropped` hears of what will not come into the bucket by this daemon; archives have `largest` bytes at most. */
  constructor(
    { outbox }: StoreLayout,
    blobs: BlobStore,
    bucket: Bucket,
    largest: number,
    onDropped: (sha256: Sha256, reason: string) => void,
  ) {
    this.#folder = outbox;
    this.#blobs = blobs;
    this.#bucket = bucket;
    this.#largest = largest;
    this.#onDropped = onDropped;
    blobs.listen({ onStored: (_, sha256) => this.#add(sha256) });
  }

  /** Undefined where the bucket has none, or fails. */
  async open(sha256: Sha256) {
    if (this.#wrong.has(sha256)) return undefined;
    const { url } = this.#bucket;
    try {
      const found = await this.#bucket.open(sha256, this.#largest);
      return found && { ...found, url, contentType: "application/zip" };
    } catch (error) {
      if (!isBucketFailure(error)) throw error;
      return undefined;
    }
  }

  /** Archives that wait or are being sent. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Goes on with what an earlier process left. */
  async start(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder))
      if (isSha256(name)) this.#wait(name);
    this.#send();
  }

  /** Never throws. */
  #add(sha256: Sha256): void {
    if (this.#waiting.size >= most)
      this.#onDropped(sha256, `${most} others wait already`);
    else this.#wait(sha256, writeFile(join(this.#folder, sha256), ""));
    this.#send();
  }

  /** The bucket has another archive in its place: no replica takes that until it is replaced. */
  distrust(sha256: Sha256): void {
    this.#wrong.add(sha256);
  }

  /** Resolves when all are in the bucket, or when it failed and they wait. */
  async drain(): Promise<void> {
    while (this.#sending.size > 0) await Promise.race(this.#sending.values());
  }

  /** Stops sending. The next process sends the archives that still wait. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#pause);
    await this.drain();
    for (const { endUse } of this.#waiting.values()) endUse();
  }

  #wait(sha256: Sha256, noting: Promise<void> = Promise.resolve()): void {
    const noted = noting.catch(() => undefined);
    if (this.#waiting.has(sha256)) return;
    const endUse = this.#blobs.usage.begin(sha256);
    this.#waiting.set(sha256, { noted, endUse });
  }

  #send(): void {
    for (const sha256 of this.#waiting.keys()) {
      const isFull = this.#sending.size >= atOnce;
      if (isFull || this.#isClosed || this.#pause !== undefined) return;
      if (this.#sending.has(sha256)) continue;
      const sending = this.#sendOne(sha256).finally(() => {
        this.#sending.delete(sha256);
        this.#send();
      });
      this.#sending.set(sha256, sending);
    }
  }

  /** Never rejects. */
  async #sendOne(sha256: Sha256): Promise<void> {
    try {
      await this.#upload(sha256);
      this.#wrong.delete(sha256);
    } catch (error) {
      if (isBucketFailure(error)) {
        this.#pause ??= setTimeout(() => {
          this.#pause = undefined;
          this.#send();
        }, pause).unref();
        return;
      }
      this.#onDropped(sha256, (error as Error).message);
    }
    const waiting = this.#waiting.get(sha256);
    await waiting?.noted;
    const note = join(this.#folder, sha256);
    await rm(note, { force: true }).catch(() => undefined);
    this.#waiting.delete(sha256);
    waiting?.endUse();
  }

  async #upload(sha256: Sha256): Promise<void> {
    const blob = await this.#blobs.open(sha256);
    if (blob === undefined) return;
    await using handle = blob.handle;
    const isThere =
      !this.#wrong.has(sha256) &&
      (await this.#bucket.size(sha256)) === blob.size;
    if (isThere) return;
    await this.#blobs.verify(blob);
    await this.#bucket.put(sha256, handle, blob.size);
  }
}
