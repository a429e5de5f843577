import pLimit from "p-limit";

/** Acts on all, so many at once, in no order; begins no other after the first failure or once `signal` aborts, and throws that. */
export async function forEach<T>(
  all: Iterable<T>,
  {
    atOnce,
    signal,
  }: { readonly atOnce: number; readonly signal?: AbortSignal },
  act: (one: T) => Promise<void>,
): Promise<void> {
  const turn = pLimit(atOnce);
  const failed = new AbortController();
  const stop = AbortSignal.any([...(signal ? [signal] : []), failed.signal]);
  await turn.map(all, async (one) => {
    stop.throwIfAborted();
    await act(one).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    });
  });
}
