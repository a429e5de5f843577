import {
  GitFailed,
  withoutRemote,
  type GitRepository,
} from "../../../origin/git/git-process.ts";
import { HasSubmodules, packCommit } from "./archive.ts";
import type { PackLimits } from "./budget.ts";

export interface PackTask {
  readonly repository: GitRepository;
  readonly commit: string;
  readonly limits: PackLimits;
  /** Where the archive is written. */
  readonly file: string;
}

/** Errors lose their class between threads, so that verdicts cross as values. */
export type PackAnswer = "packed" | "submodules" | { readonly refused: string };

export default async function answer(task: PackTask): Promise<PackAnswer> {
  const { repository, commit, limits, file } = task;
  try {
    // The thread is ended with what it started.
    const { signal } = new AbortController();
    await packCommit(withoutRemote(repository, signal), commit, limits, file);
    return "packed";
  } catch (error) {
    if (error instanceof HasSubmodules) return "submodules";
    if (error instanceof RangeError || error instanceof GitFailed)
      return { refused: error.message };
    throw error;
  }
}
