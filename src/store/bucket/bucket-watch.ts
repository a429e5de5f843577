import { failure, ProvenderError } from "../../errors/index.ts";
import type { Bucket } from "./bucket.ts";

/** Milliseconds between two looks. */
const interval = 1_000;

/**
 * Looks once a second whether the bucket answers. While it does not, no
 * request waits for it.
 */
export class BucketWatch {
  readonly #bucket: Bucket;
  readonly #onProblem: (problem: string | undefined) => void;
  #problem: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  /** `onProblem` hears why it is unusable or read-only; undefined when it works again. */
  constructor(
    bucket: Bucket,
    onProblem: (problem: string | undefined) => void,
  ) {
    this.#bucket = bucket;
    this.#onProblem = onProblem;
  }

  /** Why it is unusable or read-only; undefined while it is neither. */
  get problem(): string | undefined {
    return this.#problem;
  }

  start(): void {
    this.#look();
    this.#timer = setInterval(() => this.#look(), interval).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  #look(): void {
    this.#looking ??= this.#ask().finally(() => (this.#looking = undefined));
  }

  /** Never rejects. */
  async #ask(): Promise<void> {
    const { connection } = this.#bucket;
    try {
      await this.#bucket.probe();
      connection.suspend(undefined);
    } catch (error) {
      connection.suspend(this.#asFailure(error));
    }
    const { problem } = connection;
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#onProblem(problem);
  }

  #asFailure(error: unknown): ProvenderError {
    if (error instanceof ProvenderError) return error;
    const { message } = error as Error;
    return failure("bucket-unreachable", this.#bucket.name, message, {
      cause: error,
    });
  }
}
