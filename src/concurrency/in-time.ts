/** The result of `awaited`, or that of `late` after so many milliseconds; `awaited` goes on. */
export async function inTime<T, L>(
  awaited: Promise<T>,
  milliseconds: number,
  late: () => L,
): Promise<T | L> {
  const { promise: passed, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    return await Promise.race([awaited, passed.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/** The result of `awaited`, or the signal's reason when it aborts first; `awaited` goes on. */
export async function untilAborted<T>(
  awaited: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([awaited, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
