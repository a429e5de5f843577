import { makeThreads } from "../../concurrency/threads.ts";
import { describeFailure, unusable } from "./http-failure.ts";
import type { JsonReading, ReadingPlace } from "./json-reading.ts";
import type { JsonAnswer, JsonTask } from "./json-worker.ts";
import { parseJsonText } from "./json-text.ts";

/** Bytes that are parsed and checked on the event loop within a millisecond or two. */
const largerThan = 64 * 1024;

/** Leaves a core to the event loop where there are few. */
const threads = 2;

/** Four hundred times the size of what is read by default. */
const memoryMiB = 512;

/** Reads large documents away from the event loop, which would stand still for seconds; idle threads end. */
export class JsonThreads {
  #isClosed = false;
  readonly #pool = makeThreads<JsonTask, JsonAnswer>(
    import.meta.url,
    "./json-worker",
    { threads, heap: memoryMiB },
  );

  /**
   * What `reading` makes of a document in memory of its own, which is gone
   * afterwards. Throws OriginAnswerUnusable, and OriginTimedOut when the signal
   * ended the thread.
   */
  async read<T>(
    url: URL,
    bytes: Uint8Array,
    { read, place }: JsonReading<T>,
    signal: AbortSignal,
  ): Promise<T> {
    if (place === undefined || bytes.length <= largerThan)
      return read(url, parseJsonText(url, bytes));
    if (this.#isClosed) throw new Error("reading documents has ended");
    const answer = await this.#run(url, bytes, place, signal);
    if ("unusable" in answer) throw unusable(url, answer.unusable);
    return answer.value as T;
  }

  /** Ends the threads, and whatever they are reading; large documents are read no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.destroy();
  }

  #run(
    url: URL,
    bytes: Uint8Array,
    place: ReadingPlace,
    signal: AbortSignal,
  ): Promise<JsonAnswer> {
    const task = { ...place, url: url.href, bytes };
    const transferList = [bytes.buffer as ArrayBuffer];
    return this.#pool
      .run(task, { signal, transferList })
      .catch((error: unknown) => {
        if (signal.aborted) throw describeFailure(url, signal.reason, "body");
        if (isOutOfMemory(error))
          throw unusable(url, `reading it takes more than ${memoryMiB} MiB`);
        throw error;
      });
  }
}

function isOutOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
}
