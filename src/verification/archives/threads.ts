import pLimit, { type LimitFunction } from "p-limit";
import type { Piscina } from "piscina";
import type { PackageHash } from "../../address/hash.ts";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import { makeThreads } from "../../concurrency/threads.ts";
import { failure } from "../../errors/index.ts";
import type {
  ArchiveAnswer,
  ArchiveJobs,
  ArchiveTask,
} from "./archive-worker.ts";
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

type Job = keyof ArchiveJobs;
type Answer<J extends Job> = Awaited<ReturnType<ArchiveJobs[J]>>;
type Refuse = (reason: string, options?: ErrorOptions) => Error;

/**
 * Reads archives away from the event loop, in a bounded number of threads; those
 * that are idle end. An archive stays open until its job settles.
 */
export class ArchiveThreads {
  readonly #settings: ArchiveThreadsSettings;
  readonly #pool: Piscina<ArchiveTask<Job>, ArchiveAnswer<Answer<Job>>>;
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
  hash({ fd, size }: OpenArchive): Promise<PackageHash> {
    const args = [{ fd, size }, this.#settings.limits] as const;
    return this.#run("hash", [...args], (reason, options) =>
      failure("archive-unhashable", "The archive", reason, options),
    );
  }

  /** Like verifyModuleArchive; an overrun is a module-archive-refused too. */
  verify(
    module: string,
    format: ArchiveFormat,
    { fd, size }: OpenArchive,
  ): Promise<void> {
    const { limits } = this.#settings;
    const args = [module, format, { fd, size }, limits] as const;
    return this.#run("verify", [...args], (reason, options) =>
      failure("module-archive-refused", module, reason, options),
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

  async #run<J extends Job>(
    job: J,
    args: Parameters<ArchiveJobs[J]>,
    refuse: Refuse,
  ): Promise<Answer<J>> {
    const { deadlineMs } = this.#settings;
    const answer = await this.#turn(async () => {
      const signal = AbortSignal.timeout(deadlineMs);
      return await this.#pool
        .run({ job, args }, { signal })
        .catch((cause: unknown) => {
          if (!signal.aborted) throw cause;
          const reason = `it could not be ${doing[job]} within ${deadlineMs} ms`;
          throw refuse(reason, { cause });
        });
    });
    if ("refused" in answer) throw refuse(answer.refused);
    return answer.value as Answer<J>;
  }
}

const doing = { hash: "hashed", verify: "looked through" };
