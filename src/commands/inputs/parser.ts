import pLimit from "p-limit";
import type { Piscina } from "piscina";
import { makeThreads } from "../../concurrency/threads.ts";
import { failure, isFailure } from "../../errors/index.ts";
import type { Declarations } from "./declarations.ts";
import type { DependencyLockFile } from "./dependency-lock-file.ts";
import { readInputFile } from "./input-file.ts";

export interface ParserTask {
  readonly kind: "configuration" | "locks";
  readonly path: string;
  readonly text: string;
}

export interface ParserAnswer {
  /** Without its problems. */
  readonly content: object;
  /** Errors do not pass between threads as what they are. */
  readonly problems: readonly (readonly [
    where: string,
    problem: string,
    remedy: string | undefined,
  ])[];
}

/** Milliseconds of processor time for one file, the start of the thread included; a MiB that someone wrote takes two seconds. */
const patience = 10_000;
/** Milliseconds in any case: a busy machine makes no file a hostile one. */
const longest = 120_000;

/** MiB. A file that someone wrote takes a few. */
const heap = 256;

/** One thread, which ends when it is idle. */
let pool: Piscina<ParserTask, ParserAnswer> | undefined;
const turn = pLimit(1);

/** Reads a configuration or test file; what is wrong with it is among the problems. */
export function parseConfiguration(
  path: string,
  text: string,
): Promise<Declarations> {
  return parse({ kind: "configuration", path, text });
}

/** Reads what the clients' loader accepts (depsfile, "LoadLocksFromBytes"); entries that it refuses are problems. */
export async function parseLockFile(
  path: string,
  text: string,
): Promise<DependencyLockFile> {
  const task = { kind: "locks", path, text } as const;
  return { text, ...(await parse<Omit<DependencyLockFile, "text">>(task)) };
}

/** The same of a file, which cannot be read or is whole a problem, too. */
export async function readLockFile(path: string): Promise<DependencyLockFile> {
  try {
    return await parseLockFile(path, await readInputFile(path));
  } catch (error) {
    if (!isFailure(error, "input")) throw error;
    return { text: "", locks: [], problems: [error] };
  }
}

/**
 * Reads a file in a thread that can be ended: anyone may have written it, and the time that parsers take is not
 * bounded by its size.
 */
async function parse<Content>(task: ParserTask): Promise<Content> {
  const threads = { threads: 1, heap };
  pool ??= makeThreads(import.meta.url, "./parser-worker", threads);
  const run = pool.run.bind(pool);
  const { content, problems } = await turn(() =>
    // A thread may also die of what earlier files left in its memory.
    withPatience((signal) =>
      run(task, { signal }).catch(() => run(task, { signal })),
    ),
  ).catch((cause: unknown) => {
    throw failure("hostile-input", task.path, { cause });
  });
  const failures = problems.map((problem) => failure("input", ...problem));
  return { ...content, problems: failures } as Content;
}

async function withPatience<T>(
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const [since, before] = [performance.now(), process.cpuUsage()];
  const watch = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    const took = (user + system) / 1_000;
    if (took > patience || performance.now() - since > longest) end.abort();
  }, 100);
  try {
    return await run(end.signal);
  } finally {
    clearInterval(watch);
  }
}
