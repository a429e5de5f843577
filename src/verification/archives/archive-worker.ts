import { isFailure } from "../../errors/index.ts";
import { verifyModuleArchive } from "./module-archive.ts";
import { hashPackage } from "./package-hash.ts";

const jobs = { hash: hashPackage, verify: verifyModuleArchive };

export type ArchiveJobs = typeof jobs;

export interface ArchiveTask<Job extends keyof ArchiveJobs> {
  readonly job: Job;
  readonly args: Parameters<ArchiveJobs[Job]>;
}

/** Errors lose their class between threads, so that verdict crosses as a value. */
export type ArchiveAnswer<Value> =
  { readonly value: Value } | { readonly refused: string };

export default async function answer<Job extends keyof ArchiveJobs>({
  job,
  args,
}: ArchiveTask<Job>): Promise<ArchiveAnswer<unknown>> {
  const run: (...args: never) => Promise<unknown> = jobs[job];
  try {
    return { value: await run(...(args as never)) };
  } catch (error) {
    if (isFailure(error, "archive-unhashable", "module-archive-refused"))
      return { refused: error.reason };
    throw error;
  }
}
