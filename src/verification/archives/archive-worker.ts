import type { PackageHash } from "../../address/hash.ts";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import { isFailure } from "../../errors/index.ts";
import type { ArchiveLimits } from "./limits.ts";
import { verifyModuleArchive } from "./module-archive.ts";
import type { OpenArchive } from "./open-archive.ts";
import { hashPackage } from "./package-hash.ts";

/** An archive to hash as a package, or to look through as that of a module. */
export interface ArchiveTask {
  readonly archive: OpenArchive;
  readonly limits: ArchiveLimits;
  readonly module?: { readonly name: string; readonly format: ArchiveFormat };
}

/** Errors lose their class between threads, so that a verdict crosses as a value. */
export interface ArchiveAnswer {
  readonly hash?: PackageHash;
  readonly refused?: string;
}

export default async function answer({
  archive,
  limits,
  module,
}: ArchiveTask): Promise<ArchiveAnswer> {
  try {
    if (module === undefined)
      return { hash: await hashPackage(archive, limits) };
    await verifyModuleArchive(module.name, module.format, archive, limits);
    return {};
  } catch (error) {
    if (isFailure(error, "archive-unhashable", "module-archive-refused"))
      return { refused: error.reason };
    throw error;
  }
}
