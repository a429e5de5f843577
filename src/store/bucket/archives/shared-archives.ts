import type { Sha256 } from "../../../address/hash.ts";
import { isBucketFailure } from "../../../errors/index.ts";
import type { BucketBlobs } from "../bucket-blobs.ts";
import type { FetchLeases } from "./fetch-leases.ts";
import type { Outbox } from "./outbox.ts";

interface SharedArchivesParts {
  readonly blobs: BucketBlobs;
  readonly outbox: Outbox;
  readonly leases: FetchLeases;
  /** Of the service. */
  readonly url: URL;
  /** Bytes. */
  readonly largest: number;
}

/** The archives of the bucket, for one replica: it takes what others brought, and one replica at a time fetches what nobody brought. While the bucket fails, it has none. */
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

  /** Throws what the bucket throws. */
  async has(sha256: Sha256): Promise<boolean> {
    return (await this.#parts.blobs.size(sha256)) !== undefined;
  }

  async awaitOther(sha256: Sha256, signal: AbortSignal): Promise<boolean> {
    const { outbox, leases } = this.#parts;
    if (outbox.isDistrusted(sha256)) return false;
    const isThere = await noneIfFailing(this.has(sha256));
    if (isThere !== false) return isThere ?? false;
    return leases.take(sha256, () => this.has(sha256), signal);
  }

  /** The lease on what goes into the bucket is released once it is there. */
  settle(sha256: Sha256): void {
    const { outbox, leases } = this.#parts;
    if (!outbox.has(sha256)) leases.end(sha256);
  }

  leadNamed(
    name: string,
    ...how: [isDone: () => Promise<boolean>, signal: AbortSignal]
  ): Promise<void> {
    return this.#parts.leases.takeNamed(name, ...how);
  }

  settleNamed(name: string, fetched: Sha256 | undefined): void {
    const { outbox, leases } = this.#parts;
    const isComing = fetched !== undefined && outbox.has(fetched);
    leases.endNamed(name, isComing ? fetched : undefined);
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
