import pLimit from "p-limit";
import type { Piscina } from "piscina";
import { makeThreads } from "../../concurrency/threads.ts";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import type {
  DependencyLockFile,
  LockFileContent,
} from "./dependency-lock-file.ts";
import { textOf, type InputText } from "./input-file.ts";
import type { FileDeclarations } from "./required-providers.ts";

export interface ParserTask {
  readonly kind: "configuration" | "tests" | "locks";
  readonly path: string;
  readonly text: string;
}

/** An error does not pass between threads as what it is. */
type Problem = readonly [
  where: string,
  problem: string,
  remedy: string | undefined,
];

export interface ParserAnswer {
  /** Without its problems. */
  readonly content: object;
  readonly problems: readonly Problem[];
}

/** Milliseconds for one file, the start of the thread included; a MiB that someone wrote takes one second. */
const patience = 10_000;

/** MiB. A file that someone wrote takes a few. */
const heap = 256;

/** One thread for all commands, which a daemon runs beside its clients; it ends when it is idle. */
let pool: Piscina<ParserTask, ParserAnswer> | undefined;
const turn = pLimit(1);

/** Never throws for the content of the file: that is among the problems. Throws hostile-input. */
export function parseConfiguration(
  path: string,
  text: string,
): Promise<FileDeclarations> {
  return parse("configuration", path, text);
}

/** As parseConfiguration, of a `.tftest.hcl` file: what its `run` blocks call. */
export function parseTestFile(
  path: string,
  text: string,
): Promise<FileDeclarations> {
  return parse("tests", path, text);
}

/** Reads what the clients' loader accepts (depsfile, "LoadLocksFromBytes"); entries that it refuses are problems. Throws hostile-input. */
export async function parseDependencyLockFile(
  path: string,
  text: string,
): Promise<DependencyLockFile> {
  return { text, ...(await parse<LockFileContent>("locks", path, text)) };
}

/** As parseDependencyLockFile, of a file that may be unreadable. */
export async function readDependencyLocks(
  file: InputText,
): Promise<DependencyLockFile> {
  try {
    return await parseDependencyLockFile(file.path, textOf(file));
  } catch (error) {
    if (!isFailure(error, "input")) throw error;
    return { text: "", locks: [], problems: [error] };
  }
}

/**
 * Reads a file in a thread that can be ended: anyone may have written it, and
 * the time that parsers take is not bounded by its size. What is wrong with the file
 * is among the problems. Throws hostile-input when the thread was ended.
 */
async function parse<Content>(
  kind: ParserTask["kind"],
  path: string,
  text: string,
): Promise<Content> {
  pool ??= makeThreads(import.meta.url, "./parser-worker", {
    threads: 1,
    heap,
  });
  const run = pool.run.bind(pool);
  const { content, problems } = await turn(async () => {
    const signal = AbortSignal.timeout(patience);
    const ask = () => run({ kind, path, text }, { signal });
    // A thread may also die of what earlier files left in its memory.
    return ask().catch(ask);
  }).catch((cause: unknown) => {
    throw failure("hostile-input", path, { cause });
  });
  return {
    ...content,
    problems: problems.map(asFailure),
  } as Content;
}

function asFailure(problem: Problem): Failure<"input"> {
  return failure("input", ...problem);
}
