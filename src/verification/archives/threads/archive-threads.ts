import pLimit, { type LimitFunction } from "p-limit";
import { Piscina } from "piscina";

export interface ArchiveThreadsSettings {
  readonly threads: number;
  /** Of one archive, counted from when a thread is free for it. */
  readonly deadlineMs: number;
}

/** A thread was ended because its archive took too long, which says nothing about the archive. */
export class ArchiveDeadlinePassed extends Error {}

/** Work on archives away from the event loop, in a bounded number of threads; those that are idle end. */
export class ArchiveThreads<Task, Answer> {
  readonly #pool: Piscina<Task, Answer>;
  readonly #deadlineMs: number;
  readonly #turn: LimitFunction;
  #isClosed = false;

  /** `worker` is a module beside `from`, named without its ending. */
  constructor(
    worker: string,
    from: string,
    { threads, deadlineMs }: ArchiveThreadsSettings,
  ) {
    this.#deadlineMs = deadlineMs;
    this.#turn = pLimit({ concurrency: threads, rejectOnClear: true });
    const ending = from.endsWith(".ts") ? ".ts" : ".js";
    this.#pool = new Piscina({
      filename: new URL(`${worker}${ending}`, from).href,
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: 10_000,
      // A small young generation is collected often, and what was expanded with it.
      resourceLimits: {
        maxOldGenerationSizeMb: 256,
        maxYoungGenerationSizeMb: 3,
      },
      atomics: "disabled",
      recordTiming: false,
    });
    // A thread that cannot start, such as for want of descriptors, must not end the process.
    this.#pool.on("error", () => undefined);
  }

  /** What the worker answers; throws ArchiveDeadlinePassed when that ended its thread. The archive stays open until this settles. */
  run(task: Task): Promise<Answer> {
    return this.#turn(async () => {
      const signal = AbortSignal.timeout(this.#deadlineMs);
      return await this.#pool.run(task, { signal }).catch((error: unknown) => {
        throw signal.aborted
          ? new ArchiveDeadlinePassed(`within ${this.#deadlineMs} ms`, {
              cause: error,
            })
          : error;
      });
    });
  }

  /** True once what waits or is under way is ended on purpose. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Ends the threads; what waits or is under way rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#turn.clearQueue();
    await this.#pool.destroy();
  }
}
