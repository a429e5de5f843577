import { Piscina } from "piscina";

interface ThreadSettings {
  /** Threads at once, at most. */
  readonly threads: number;
  /** That are there from the first task on; 0. */
  readonly always?: number;
  /** MiB of JavaScript heap of each. */
  readonly heap: number;
  /** MiB of the heap for new objects; a small one is collected often. */
  readonly youngHeap?: number;
}

/** Runs the module `name` beside `from`, named without its ending, in threads that end when they are idle. */
export function makeThreads<Task, Answer>(
  from: string,
  name: string,
  { threads, always = 0, heap, youngHeap }: ThreadSettings,
): Piscina<Task, Answer> {
  const ending = from.endsWith(".ts") ? ".ts" : ".js";
  const pool = new Piscina<Task, Answer>({
    filename: new URL(`${name}${ending}`, from).href,
    minThreads: always,
    maxThreads: threads,
    idleTimeout: 10_000,
    resourceLimits: {
      maxOldGenerationSizeMb: heap,
      ...(youngHeap && { maxYoungGenerationSizeMb: youngHeap }),
    },
    atomics: "disabled",
    recordTiming: false,
  });
  // A thread that cannot start, such as for want of descriptors or memory, must not end the process.
  pool.on("error", () => undefined);
  return pool;
}
