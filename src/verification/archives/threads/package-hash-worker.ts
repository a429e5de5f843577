import { isFailure } from "../../../errors/index.ts";
import type { PackageHash } from "../../../address/hash.ts";
import type { OpenArchive } from "../open-archive.ts";
import { hashPackage } from "../package-hash.ts";
import type { ArchiveLimits } from "../limits.ts";

export interface HashTask {
  readonly archive: OpenArchive;
  readonly limits: ArchiveLimits;
}

/** Errors lose their class between threads, so that verdict crosses as a value. */
export type HashAnswer =
  { readonly hash: PackageHash } | { readonly unhashable: string };

export default async function answer(task: HashTask): Promise<HashAnswer> {
  try {
    return { hash: await hashPackage(task.archive, task.limits) };
  } catch (error) {
    if (isFailure(error, "archive-unhashable"))
      return { unhashable: error.reason };
    throw error;
  }
}
