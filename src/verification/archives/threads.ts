import pLimit, { type LimitFunction } from "p-limit";
import type { Piscina } from "piscina";
import type { PackageHash } from "../../address/hash.ts";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import { makeThreads } from "../../concurrency/threads.ts";
import { failure } from "../../errors/index.ts";
import type { ArchiveAnswer, ArchiveTask } from "./archive-worker.ts";
import type { ArchiveLimits } from "./limits.ts";
import type { OpenArchive } from "./open-archive.ts";

/**
 * Reads archives away from the event loop, in a bounded number of threads; those
 * that are idle end. An archive stays open until its job settles.
 */
export class ArchiveThreads {
  readonly #limits: ArchiveLimits;
  readonly #deadlineMs: number;
  readonly #pool: Piscina<ArchiveTask, ArchiveAnswer>;
  readonly #turn: LimitFunction;
  #isClosed = false;

  /** `deadlineMs` are milliseconds for one archive, counted from when a thread is free for it. */
  constructor(
    limits: ArchiveLimits,
    { threads = 2, deadlineMs = 300_000 } = {},
  ) {
    this.#limits = limits;
    this.#deadlineMs = deadlineMs;
    this.#turn = pLimit({ concurrency: threads, rejectOnClear: true });
    // So that what was expanded is collected often.
    const heaps = { threads, heap: 256, youngHeap: 3 };
    this.#pool = makeThreads(import.meta.url, "./archive-worker", heaps);
  }

  /** Throws archive-unhashable; with a cause where an overrun ended its thread. */
  async hash(archive: OpenArchive): Promise<PackageHash> {
    const { hash, refused = "no hash", cause } = await this.#run(archive);
    if (hash !== undefined) return hash;
    throw failure("archive-unhashable", "The archive", refused, { cause });
  }

  /** Looks through the archive of a module; throws module-archive-refused. */
  async verify(
    module: string,
    format: ArchiveFormat,
    archive: OpenArchive,
  ): Promise<void> {
    const { refused, cause } = await this.#run(archive, format);
    if (refused !== undefined)
      throw failure("module-archive-refused", module, refused, { cause });
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

  #run({ fd, size }: OpenArchive, format?: ArchiveFormat) {
    return this.#turn(async (): Promise<ArchiveAnswer & ErrorOptions> => {
      const signal = AbortSignal.timeout(this.#deadlineMs);
      const [archive, limits] = [{ fd, size }, this.#limits];
      const task = { archive, limits, ...(format && { format }) };
      try {
        return await this.#pool.run(task, { signal });
      } catch (cause) {
        if (!signal.aborted) throw cause;
        const refused = `it could not be read within ${this.#deadlineMs} ms`;
        return { refused, cause };
      }
    });
  }
}
