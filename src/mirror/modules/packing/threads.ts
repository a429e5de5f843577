import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { Piscina } from "piscina";
import { makeThreads } from "../../../concurrency/threads.ts";
import {
  ModuleArchiveRefused,
  OriginTimedOut,
  ProvenderError,
} from "../../../errors/index.ts";
import type { GitCheckout } from "../../../origin/git/repository.ts";
import type { PackLimits } from "./budget.ts";
import type { PackAnswer, PackTask } from "./pack-worker.ts";

/** A commit of which the mirror cannot make an archive that is equal to what clients would fetch. */
export class NotPackable extends Error {}

const threads = 2;
const mostMegabytes = 256;

/** Packs repositories away from the event loop, in a bounded number of threads of bounded memory. */
export class PackThreads {
  readonly #limits: PackLimits;
  readonly #pool: Piscina<PackTask, PackAnswer>;

  constructor(limits: PackLimits) {
    this.#limits = limits;
    const settings = { threads, heap: mostMegabytes };
    this.#pool = makeThreads(import.meta.url, "./pack-worker", settings);
  }

  /** A tar.gz. Throws ModuleArchiveRefused, OriginTimedOut, and NotPackable for submodules, which only a checkout has. */
  async *pack(
    module: string,
    checkout: GitCheckout,
  ): AsyncGenerator<Uint8Array> {
    const { repository, commit } = checkout;
    const file = join(repository.folder, "archive.tar.gz");
    const task = { repository, commit, limits: this.#limits, file };
    const answer = await this.#run(module, task, checkout.signal);
    if (answer === "submodules") throw new NotPackable("git with submodules");
    if (answer !== "packed")
      throw new ModuleArchiveRefused(module, answer.refused);
    yield* createReadStream(file) as AsyncIterable<Uint8Array>;
  }

  /** Ends the threads; what waits or is under way rejects. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #run(
    module: string,
    task: PackTask,
    signal: AbortSignal,
  ): Promise<PackAnswer> {
    try {
      return await this.#pool.run(task, { signal });
    } catch (error) {
      const options = { cause: error };
      if (signal.reason instanceof ProvenderError) throw signal.reason;
      if (signal.aborted)
        throw new OriginTimedOut(module, "packing it took too long", options);
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ERR_WORKER_OUT_OF_MEMORY") throw error;
      const reason = `it takes more than ${mostMegabytes} MiB of memory to look at`;
      throw new ModuleArchiveRefused(module, reason, options);
    }
  }
}
