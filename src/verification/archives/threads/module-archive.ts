import type { ArchiveFormat } from "../../../address/module-archive-name.ts";
import { failure } from "../../../errors/index.ts";
import type { ArchiveLimits } from "../limits.ts";
import type { OpenArchive } from "../open-archive.ts";
import {
  ArchiveDeadlinePassed,
  ArchiveThreads,
  type ArchiveThreadsSettings,
} from "./archive-threads.ts";
import type { ModuleAnswer, ModuleTask } from "./module-archive-worker.ts";

interface ModuleArchiveSettings extends ArchiveThreadsSettings {
  readonly limits: ArchiveLimits;
}

/** Looks through modules' archives away from the event loop. */
export class ModuleArchiveThreads {
  readonly #limits: ArchiveLimits;
  readonly #threads: ArchiveThreads<ModuleTask, ModuleAnswer>;

  constructor({ limits, ...settings }: ModuleArchiveSettings) {
    this.#limits = limits;
    this.#threads = new ArchiveThreads(
      "./module-archive-worker",
      import.meta.url,
      settings,
    );
  }

  /** Like verifyModuleArchive; an overrun is a module-archive-refused too. The archive stays open until this settles. */
  async verify(
    module: string,
    format: ArchiveFormat,
    { fd, size }: OpenArchive,
  ): Promise<void> {
    const task = {
      module,
      format,
      archive: { fd, size },
      limits: this.#limits,
    };
    const { refused } = await this.#threads.run(task).catch(asOverrun(module));
    if (refused !== undefined)
      throw failure("module-archive-refused", module, refused);
  }

  /** Ends the threads; what waits or is under way rejects. */
  close(): Promise<void> {
    return this.#threads.close();
  }
}

function asOverrun(module: string) {
  return (error: unknown): never => {
    if (!(error instanceof ArchiveDeadlinePassed)) throw error;
    const reason = `it could not be looked through ${error.message}`;
    throw failure("module-archive-refused", module, reason, { cause: error });
  };
}
