import type { PackageHash } from "../../address/hash.ts";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import { type ArchiveLimits, ArchiveRefused } from "./limits.ts";
import { readMembers } from "./module-archive.ts";
import type { OpenArchive } from "./open-archive.ts";
import { hashPackage } from "./package-hash.ts";

/** An archive to hash as a package or, where its format is given, to look through as that of a module. */
export interface ArchiveTask {
  readonly archive: OpenArchive;
  readonly limits: ArchiveLimits;
  readonly format?: ArchiveFormat;
}

/** Errors lose their class between threads, so that a verdict crosses as a value. */
export interface ArchiveAnswer {
  readonly hash?: PackageHash;
  readonly refused?: string;
}

export default async function answer({
  archive,
  limits,
  format,
}: ArchiveTask): Promise<ArchiveAnswer> {
  try {
    if (format === undefined)
      return { hash: await hashPackage(archive, limits) };
    await readMembers(format, archive, limits);
    return {};
  } catch (error) {
    if (error instanceof ArchiveRefused) return { refused: error.message };
    if (!(error instanceof Error) || isFault(error, format)) throw error;
    return { refused: error.message.split(/[.?](?: |$)/)[0] ?? "" };
  }
}

/** Errors of zlib, yauzl and tar-stream are about the archive; those of the system and of the program are not. */
function isFault(error: Error, format: ArchiveFormat | undefined): boolean {
  const code = "code" in error ? String(error.code) : "Z_";
  // What tar-stream throws at hostile numbers is of any class.
  if (format !== undefined) return code === "EIO";
  return error.constructor !== Error || !code.startsWith("Z_");
}
