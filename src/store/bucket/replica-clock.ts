import type { BucketConnection } from "./bucket-connection.ts";

/** This machine's clock, or the bucket's when ours is ahead of it: no release is older than for other replicas. */
export class ReplicaClock {
  readonly #connection: Pick<BucketConnection, "skew">;

  constructor(connection: Pick<BucketConnection, "skew">) {
    this.#connection = connection;
  }

  now(): Date {
    return new Date(Date.now() + Math.min(0, this.#connection.skew));
  }

  /** Milliseconds; no step of a clock moves it. */
  monotonic(): number {
    return performance.now();
  }
}
