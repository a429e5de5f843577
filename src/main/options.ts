import { output } from "./output.ts";

/** Aborted by the first SIGINT or SIGTERM, so that work ends in order; a second one ends the process. */
export function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort());
  return stop.signal;
}

/** Returns the exit status of `run`, or the one of an interrupted command. */
export async function unlessStopped(
  signal: AbortSignal,
  run: () => Promise<number>,
): Promise<void> {
  try {
    process.exitCode = await run();
  } catch (error) {
    if (!signal.aborted) throw error;
    output.stderr("Interrupted: run the same command again.\n");
    process.exitCode = 1;
  }
}
