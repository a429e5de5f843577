import type { ArchiveFormat } from "../../../address/module-archive-name.ts";
import { isFailure } from "../../../errors/index.ts";
import type { ArchiveLimits } from "../limits.ts";
import { verifyModuleArchive } from "../module-archive.ts";
import type { OpenArchive } from "../open-archive.ts";

export interface ModuleTask {
  readonly module: string;
  readonly format: ArchiveFormat;
  readonly archive: OpenArchive;
  readonly limits: ArchiveLimits;
}

/** Errors lose their class between threads, so that verdict crosses as a value. */
export interface ModuleAnswer {
  readonly refused: string | undefined;
}

export default async function answer({
  module,
  format,
  archive,
  limits,
}: ModuleTask): Promise<ModuleAnswer> {
  try {
    await verifyModuleArchive(module, format, archive, limits);
    return { refused: undefined };
  } catch (error) {
    if (isFailure(error, "module-archive-refused"))
      return { refused: error.reason };
    throw error;
  }
}
