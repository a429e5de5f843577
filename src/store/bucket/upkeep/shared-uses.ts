import { parseSha256, type Sha256 } from "../../../address/hash.ts";
import type { BlobStore } from "../../blobs/blob-store.ts";
import { useObject, useObjects } from "../../layout.ts";
import type { Bucket } from "../bucket.ts";

type StoredBlobs = Pick<BlobStore, "usage" | "size">;

/** Milliseconds between two reports of a replica. */
const interval = 5 * 60 * 1000;
/** Milliseconds for which a use counts. */
const lasts = 2 * 24 * 60 * 60 * 1000;

/** Bytes of a report: 200 000 archives. */
const largest = 16 * 1024 * 1024;

/** The journal's line: `SHA256 MILLISECONDS`. */
const line = /^([0-9a-f]{64}) ([0-9]{1,15})$/;

/**
 * Last use of archives by each replica, one object for each replica.
 * A replica rewrites its own object and reads the others, so that eviction
 * follows the use by all. Times are the bucket's.
 */
export class SharedUses {
  readonly #bucket: Bucket;
  readonly #key: string;
  readonly #blobs: StoredBlobs;
  #timer: NodeJS.Timeout | undefined;
  #said = "";

  constructor(bucket: Bucket, replica: string, blobs: StoredBlobs) {
    this.#bucket = bucket;
    this.#key = useObject(replica);
    this.#blobs = blobs;
  }

  start(): void {
    void this.learn();
    const exchange = async () => {
      await this.tell();
      await this.learn();
    };
    this.#timer = setInterval(() => void exchange(), interval).unref();
  }

  /** Never rejects: what the bucket does not take is reported next time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#timer !== undefined) await this.tell();
  }

  /** Never rejects. */
  async tell(): Promise<void> {
    try {
      const text = await this.#describe();
      if (text === this.#said) return;
      await this.#bucket.put(this.#key, text);
      this.#said = text;
    } catch {
      // The next report has it, too.
    }
  }

  /**
   * Notes uses by other replicas of archives that are here. Never rejects: the
   * bucket is asked again.
   */
  async learn(): Promise<void> {
    const { usage } = this.#blobs;
    const { skew } = this.#bucket.connection;
    const now = Date.now();
    try {
      const own = await usage.read();
      for (const [sha256, at] of await readSharedUses(
        this.#bucket,
        now + skew,
      )) {
        const used = Math.min(Math.round(at - skew), now);
        // Measured skew varies. Without this, replicas would report the same
        // use to each other forever.
        const isNews = used - (own.get(sha256) ?? 0) >= interval;
        if (isNews && (await this.#blobs.size(sha256)) !== undefined)
          usage.note(sha256, used);
      }
    } catch {
      // Until the next time what was learnt before counts.
    }
  }

  async #describe(): Promise<string> {
    const { skew } = this.#bucket.connection;
    const since = Date.now() - lasts;
    const lines = [...(await this.#blobs.usage.read())].flatMap(
      ([sha256, at]) =>
        at < since ? [] : [`${sha256} ${Math.round(at + skew)}\n`],
    );
    return lines.join("");
  }
}

/**
 * Returns the last use of each archive by any replica, in milliseconds since 1970. Deletes objects of replicas that
 * are gone.
 */
export async function readSharedUses(
  bucket: Bucket,
  now: number,
): Promise<ReadonlyMap<Sha256, number>> {
  const uses = new Map<Sha256, number>();
  for await (const { key, lastModified } of bucket.list(useObjects)) {
    if (now - lastModified.getTime() > lasts) {
      await bucket.delete(key);
      continue;
    }
    const found = await bucket.get(key);
    const text = found && (await bucket.readText(found, largest));
    for (const written of text?.split("\n") ?? []) {
      const [, sha256, at] = line.exec(written) ?? [];
      if (sha256 === undefined) continue;
      const digest = parseSha256(sha256);
      uses.set(digest, Math.max(uses.get(digest) ?? 0, Number(at)));
    }
  }
  return uses;
}
