import pLimit, { type LimitFunction } from "p-limit";
import type { Piscina } from "piscina";
import { makeThreads } from "../../../concurrency/threads.ts";

export interface ArchiveThreadsSettings {
  readonly threads: number;
  /**
   * Milliseconds for one archive, counted from when a thread is free for it.
   */
  readonly deadlineMs: number;
}

/**
 * Thrown when a thread was ended because its archive took too long, which
 * proves nothing about the archive.
 */
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
    // So that what was expanded is collected often.
    const settings = { threads, heap: 256, youngHeap: 3 };
    this.#pool = makeThreads(from, worker, settings);
  }

  /**
   * Returns the worker's answer. Throws ArchiveDeadlinePassed when the deadline
   * ended its thread. The archive stays open until this settles.
   */
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
