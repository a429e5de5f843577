import type { Sha256 } from "../../../address/hash.ts";
import { isBucketFailure } from "../../../errors/index.ts";
import type { BucketBlobs } from "../bucket-blobs.ts";
import type { Outbox } from "./outbox.ts";

interface SharedArchivesParts {
  readonly blobs: BucketBlobs;
  readonly outbox: Outbox;
  /** URL of the service. */
  readonly url: URL;
  /** Bytes. */
  readonly largest: number;
}

/**
 * Archives of the bucket for one replica, from all replicas. While the bucket
 * fails, it has none.
 */
export class SharedArchives {
  readonly #parts: SharedArchivesParts;

  constructor(parts: SharedArchivesParts) {
    this.#parts = parts;
  }

  async open(sha256: Sha256) {
    const { blobs, outbox, url, largest } = this.#parts;
    if (outbox.isDistrusted(sha256)) return undefined;
    const found = await noneIfFailing(blobs.open(sha256, largest));
    return found && { ...found, url, contentType: "application/zip" };
  }

  distrust(sha256: Sha256): void {
    this.#parts.outbox.distrust(sha256);
  }
}

async function noneIfFailing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (!isBucketFailure(error)) throw error;
    return undefined;
  }
}
