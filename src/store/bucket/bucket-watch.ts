import { z } from "zod";
import { failure, ProvenderError } from "../../errors/index.ts";
import { readJson } from "../json-text.ts";
import type { Bucket } from "./bucket.ts";

/** Milliseconds between two looks. */
const interval = 1_000;
/** Milliseconds for an answer; something new takes several, one after the other, and clients wait 10 s. */
const slow = 1_000;
const object = "epoch.json";
/** Attempts at the write that creates it. */
const tries = 3;

const shape = z.object({ store: z.string(), at: z.string() });

interface WatchEvents {
  /**
   * Hears the reason for an unusable or read-only bucket; undefined when it
   * works again.
   */
  readonly onProblem: (problem: string | undefined) => void;
}

/**
 * Checks once a second for decisions of other replicas. The same request shows
 * whether the bucket answers and still has our store. While it does not, no
 * request waits for it.
 */
export class BucketWatch {
  readonly #bucket: Bucket;
  readonly #store: string;
  readonly #events: WatchEvents;
  #at: string | undefined;
  #epoch = 0;
  #problem: string | undefined;
  #isSlow = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(bucket: Bucket, store: string, events: WatchEvents) {
    this.#bucket = bucket;
    this.#store = store;
    this.#events = events;
  }

  /** Another number once some replica changed what is trusted. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Reason for an unusable or read-only bucket. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves after the first look. */
  async start(): Promise<void> {
    await this.look();
    this.#timer = setInterval(() => void this.look(), interval).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** Has every replica look again at what is trusted. */
  async bump(): Promise<void> {
    await this.#bucket.put(object, this.#body());
  }

  /** Creates the first epoch, so that its absence proves a loss. */
  async begin(): Promise<void> {
    for (let left = tries; ; left--) {
      const absent = { kind: "absent" } as const;
      const begun = await this.#bucket.putIf(object, this.#body(), absent);
      if (begun.kind !== "unknown") return;
      if (left === 1) throw begun.failure;
    }
  }

  async #look(): Promise<void> {
    const { connection } = this.#bucket;
    const wasSlow = this.#isSlow;
    const began = performance.now();
    try {
      const at = await this.#read();
      this.#isSlow = performance.now() - began > slow;
      connection.suspend(
        // One slow answer may be chance.
        wasSlow && this.#isSlow ? this.#tellSlow() : undefined,
      );
      if (at !== this.#at) {
        this.#at = at;
        this.#epoch++;
      }
    } catch (error) {
      connection.suspend(this.#asFailure(error));
    }
    const { problem } = connection;
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#events.onProblem(problem);
  }

  async #read(): Promise<string> {
    const found = await this.#bucket.get(object, true);
    const text = found && (await this.#bucket.readText(found));
    const said = readJson(shape, text ?? "");
    if (said?.store === this.#store) return said.at;
    throw failure(
      "bucket-foreign",
      this.#bucket.name,
      `its ${object} ${found ? "is of another store" : "is gone"}`,
      "restore the bucket from a backup; what this replica saw of it is served until then",
    );
  }

  #tellSlow(): ProvenderError {
    const reason = `it takes over ${slow / 1_000} s for an answer`;
    return failure("bucket-unreachable", this.#bucket.name, reason);
  }

  #asFailure(error: unknown): ProvenderError {
    if (error instanceof ProvenderError) return error;
    const { message } = error as Error;
    return failure("bucket-unreachable", this.#bucket.name, message, {
      cause: error,
    });
  }

  #body(): string {
    const at = crypto.randomUUID();
    return JSON.stringify({ store: this.#store, at });
  }
}
