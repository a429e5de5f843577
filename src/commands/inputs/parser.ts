import pLimit from "p-limit";
import type { Piscina } from "piscina";
import { makeThreads } from "../../concurrency/threads.ts";
import { failure } from "../../errors/index.ts";
import type { Declarations } from "./declarations.ts";
import type {
  DependencyLockFile,
  LockFileContent,
} from "./dependency-lock-file.ts";
import type { InputText } from "./input-file.ts";

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

/** Milliseconds for one file, the start of the thread included; a MiB that someone wrote takes one second. */
const patience = 10_000;

/** MiB. A file that someone wrote takes a few. */
const heap = 256;

/** One thread for all commands, which a daemon runs beside its clients; it ends when it is idle. */
let pool: Piscina<ParserTask, ParserAnswer> | undefined;
const turn = pLimit(1);

/** Reads a configuration file; what is wrong with it is among the problems. */
export function parseConfiguration(
  path: string,
  text: string,
): Promise<Declarations> {
  return parse({ kind: "configuration", path, text });
}

/** Reads what the clients' loader accepts (depsfile, "LoadLocksFromBytes"); entries that it refuses are problems. */
export async function readDependencyLocks({
  path,
  text,
}: InputText): Promise<DependencyLockFile> {
  if (typeof text !== "string")
    return { text: "", locks: [], problems: [text] };
  const task = { kind: "locks", path, text } as const;
  return { text, ...(await parse<LockFileContent>(task)) };
}

/**
 * Reads a file in a thread that can be ended: anyone may have written it, and the time that parsers take is not
 * bounded by its size.
 */
async function parse<Content>(task: ParserTask): Promise<Content> {
  const threads = { threads: 1, heap };
  pool ??= makeThreads(import.meta.url, "./parser-worker", threads);
  const run = pool.run.bind(pool);
  const { content, problems } = await turn(() => {
    const signal = AbortSignal.timeout(patience);
    // A thread may also die of what earlier files left in its memory.
    return run(task, { signal }).catch(() => run(task, { signal }));
  }).catch((cause: unknown) => {
    throw failure("hostile-input", task.path, { cause });
  });
  const failures = problems.map((problem) => failure("input", ...problem));
  return { ...content, problems: failures } as Content;
}
