import pLimit, { type LimitFunction } from "p-limit";
import { Piscina } from "piscina";
import type { PackageHash } from "../../address/hash.ts";
import { ArchiveUnhashable } from "../../errors/index.ts";
import type { OpenArchive } from "./open-archive.ts";
import type { HashAnswer, HashTask } from "./package-hash-worker.ts";
import type { PackageLimits } from "./zip-directory.ts";

const worker = new URL(
  import.meta.url.endsWith(".ts")
    ? "./package-hash-worker.ts"
    : "./package-hash-worker.js",
  import.meta.url,
);

export interface PackageHashSettings {
  readonly threads: number;
  readonly limits: PackageLimits;
  /** Of one archive, counted from when a thread is free for it. */
  readonly deadlineMs: number;
}

/** Computes h1 away from the event loop, in a bounded number of threads. */
export class PackageHashThreads {
  readonly #settings: PackageHashSettings;
  readonly #pool: Piscina<HashTask, HashAnswer>;
  readonly #turn: LimitFunction;
  #isClosed = false;

  constructor(settings: PackageHashSettings) {
    this.#settings = settings;
    this.#turn = pLimit({
      concurrency: settings.threads,
      rejectOnClear: true,
    });
    this.#pool = new Piscina({
      filename: worker.href,
      minThreads: 0,
      maxThreads: settings.threads,
      idleTimeout: 10_000,
      atomics: "disabled",
    });
    // A thread that cannot start, such as for want of descriptors, must not end the process.
    this.#pool.on("error", () => undefined);
  }

  /** Like hashPackage; an overrun ends its thread and is an ArchiveUnhashable too. The archive stays open until this settles. */
  hash(archive: OpenArchive): Promise<PackageHash> {
    return this.#turn(() => this.#hash(archive));
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

  async #hash({ fd, size }: OpenArchive): Promise<PackageHash> {
    const { limits, deadlineMs } = this.#settings;
    const signal = AbortSignal.timeout(deadlineMs);
    const task = { archive: { fd, size }, limits };
    const answer = await this.#pool
      .run(task, { signal })
      .catch((error: unknown) => {
        throw signal.aborted ? overrun(deadlineMs, error) : error;
      });
    if ("hash" in answer) return answer.hash;
    throw new ArchiveUnhashable("The archive", answer.unhashable);
  }
}

function overrun(deadlineMs: number, cause: unknown): ArchiveUnhashable {
  return new ArchiveUnhashable(
    "The archive",
    `it could not be hashed within ${deadlineMs} ms`,
    { cause },
  );
}
