import pLimit, { type LimitFunction } from "p-limit";
import type { Piscina } from "piscina";
import type { PackageHash } from "../../address/hash.ts";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import { makeThreads } from "../../concurrency/threads.ts";
import { failure } from "../../errors/index.ts";
import type { ArchiveAnswer, ArchiveTask } from "./archive-worker.ts";
import type { ArchiveLimits } from "./limits.ts";
import type { OpenArchive } from "./open-archive.ts";

interface ArchiveThreadsSettings {
  readonly threads: number;
  /**
   * Milliseconds for one archive, counted from when a thread is free for it.
   */
  readonly deadlineMs: number;
  readonly limits: ArchiveLimits;
}

/**
 * Reads archives away from the event loop, in a bounded number of threads; those
 * that are idle end. An archive stays open until its job settles.
 */
export class ArchiveThreads {
  readonly #settings: ArchiveThreadsSettings;
  readonly #pool: Piscina<ArchiveTask, ArchiveAnswer>;
  readonly #turn: LimitFunction;
  #isClosed = false;

  constructor(settings: ArchiveThreadsSettings) {
    const { threads } = settings;
    this.#settings = settings;
    this.#turn = pLimit({ concurrency: threads, rejectOnClear: true });
    // So that what was expanded is collected often.
    const heaps = { threads, heap: 256, youngHeap: 3 };
    this.#pool = makeThreads(import.meta.url, "./archive-worker", heaps);
  }

  /** Like hashPackage; an overrun ends its thread and is an archive-unhashable with a cause. */
  async hash(archive: OpenArchive): Promise<PackageHash> {
    const { hash } = await this.#run(archive, {}, (reason, options) =>
      failure("archive-unhashable", "The archive", reason, options),
    );
    if (hash === undefined) throw new Error("it was not hashed");
    return hash;
  }

  /** Like verifyModuleArchive; an overrun is a module-archive-refused too. */
  async verify(
    name: string,
    format: ArchiveFormat,
    archive: OpenArchive,
  ): Promise<void> {
    const module = { name, format };
    await this.#run(archive, { module }, (reason, options) =>
      failure("module-archive-refused", name, reason, options),
    );
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

  async #run(
    { fd, size }: OpenArchive,
    of: Pick<ArchiveTask, "module">,
    refuse: (reason: string, options?: ErrorOptions) => Error,
  ): Promise<ArchiveAnswer> {
    const { deadlineMs, limits } = this.#settings;
    const answer = await this.#turn(async () => {
      const signal = AbortSignal.timeout(deadlineMs);
      const task = { archive: { fd, size }, limits, ...of };
      return await this.#pool.run(task, { signal }).catch((cause: unknown) => {
        if (!signal.aborted) throw cause;
        throw refuse(`it could not be read within ${deadlineMs} ms`, { cause });
      });
    });
    if (answer.refused !== undefined) throw refuse(answer.refused);
    return answer;
  }
}
