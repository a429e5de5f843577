import { waiting } from "./faults.ts";

export type Arrivals = ReturnType<typeof arrivals>;

/** Counts events, and tells who waits for a number of them. */
export function arrivals() {
  let count = 0;
  const waiting: { readonly for: number; readonly go: () => void }[] = [];
  return {
    get count() {
      return count;
    },
    arrive: () => {
      count += 1;
      for (const waiter of waiting) if (waiter.for <= count) waiter.go();
    },
    /** Resolves when `wanted` events have come, which may be now. */
    reach: (wanted: number): Promise<void> =>
      count >= wanted
        ? Promise.resolve()
        : new Promise((go) => waiting.push({ for: wanted, go })),
  };
}

/** Holds answers at a known place until the test lets them go. */
export function barrier() {
  const seen = arrivals();
  const gate = Promise.withResolvers<undefined>();
  const until = () => {
    seen.arrive();
    return gate.promise;
  };
  return {
    /** Resolves when the first answer waits here. */
    reached: seen.reach(1),
    /** Resolves when `count` answers in all have come here. */
    arrived: (count: number) => seen.reach(count),
    /** Lets everyone go, those who wait and those who come. */
    release: () => gate.resolve(undefined),
    beforeHeaders: waiting("headers", until),
    /** Waits when `bytes` of the body are sent; 0 is after the headers. */
    afterBytes: (bytes: number) => waiting(bytes, until),
  };
}
