import type { PackageHash } from "../../../address/hash.ts";
import { failure } from "../../../errors/index.ts";
import type { ArchiveLimits } from "../limits.ts";
import type { OpenArchive } from "../open-archive.ts";
import {
  ArchiveDeadlinePassed,
  ArchiveThreads,
  type ArchiveThreadsSettings,
} from "./archive-threads.ts";
import type { HashAnswer, HashTask } from "./package-hash-worker.ts";

interface PackageHashSettings extends ArchiveThreadsSettings {
  readonly limits: ArchiveLimits;
}

/** Computes h1 away from the event loop. */
export class PackageHashThreads {
  readonly #limits: ArchiveLimits;
  readonly #threads: ArchiveThreads<HashTask, HashAnswer>;

  constructor({ limits, ...settings }: PackageHashSettings) {
    this.#limits = limits;
    this.#threads = new ArchiveThreads(
      "./package-hash-worker",
      import.meta.url,
      settings,
    );
  }

  /** Like hashPackage; an overrun ends its thread and is an archive-unhashable with a cause. The archive stays open until this settles. */
  async hash({ fd, size }: OpenArchive): Promise<PackageHash> {
    const task = { archive: { fd, size }, limits: this.#limits };
    const answer = await this.#threads.run(task).catch(asOverrun);
    if ("hash" in answer) return answer.hash;
    throw failure("archive-unhashable", "The archive", answer.unhashable);
  }

  /** True once what waits or is under way is ended on purpose. */
  get isClosed(): boolean {
    return this.#threads.isClosed;
  }

  /** Ends the threads; what waits or is under way rejects. */
  close(): Promise<void> {
    return this.#threads.close();
  }
}

function asOverrun(error: unknown): never {
  if (!(error instanceof ArchiveDeadlinePassed)) throw error;
  throw failure(
    "archive-unhashable",
    "The archive",
    `it could not be hashed ${error.message}`,
    { cause: error },
  );
}
