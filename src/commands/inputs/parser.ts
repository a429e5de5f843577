import pLimit from "p-limit";
import type { Piscina } from "piscina";
import { makeThreads } from "../../concurrency/threads.ts";
import { failure } from "../../errors/index.ts";
import type { HclAnswer } from "./parser-worker.ts";

/** Milliseconds for one file, the start of the thread included; a MiB that someone wrote takes two seconds, or more on a busy machine. */
const patience = 30_000;

/** MiB. A file that someone wrote takes a few. */
const heap = 256;

/** One thread, which ends when it is idle. */
let pool: Piscina<string, HclAnswer> | undefined;
const turn = pLimit(1);

/** Returns what a file of HCL says, in the form that HCL has in JSON; so does one whose name ends in `.json`. */
export async function parseHcl(path: string, text: string): Promise<unknown> {
  const isJson = path.endsWith(".json");
  const answer = await (isJson ? parseJson(text) : parseInThread(path, text));
  if ("root" in answer) return answer.root;
  // Of `… (line LINE column COLUMN)` and `parse config: [x.tf:LINE,COLUMN-COLUMN: SUMMARY; DETAIL and …]` the rest
  // quotes the file, which may hold secrets, and is not told.
  const isNot = isJson ? "it is not JSON" : "it cannot be parsed";
  const [, line, summary = isNot] =
    /(?:\bx\.tf:|\(line )(\d+)(?:,\d+(?:-[\d,]+)?: ([\w ,'-]+))?/.exec(
      answer.bad,
    ) ?? [];
  const where = line === undefined ? path : `${path}:${line}`;
  throw failure("input", where, summary, "correct it");
}

function parseJson(text: string): HclAnswer {
  try {
    return { root: JSON.parse(text) };
  } catch (error) {
    return { bad: (error as Error).message };
  }
}

/**
 * Reads a file in a thread that can be ended: anyone may have written it, and the time that the parser takes is not
 * bounded by its size.
 */
async function parseInThread(path: string, text: string): Promise<HclAnswer> {
  const threads = { threads: 1, heap };
  pool ??= makeThreads(import.meta.url, "./parser-worker", threads);
  const run = pool.run.bind(pool);
  return turn(() => {
    const signal = AbortSignal.timeout(patience);
    // A thread may also die of what earlier files left in its memory.
    return run(text, { signal }).catch(() => run(text, { signal }));
  }).catch((cause: unknown) => {
    throw failure("hostile-input", path, { cause });
  });
}
