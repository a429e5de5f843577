/** Aborted by the first SIGINT or SIGTERM, so that work ends in order; a second one ends the process. */
export function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort());
  return stop.signal;
}
