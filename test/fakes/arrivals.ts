/** Counts events, and tells who waits for a number of them. */
export interface Arrivals {
  readonly count: number;
  arrive(): void;
  /** Resolves when `count` events have come, which may be now. */
  reach(count: number): Promise<void>;
}

export function arrivals(): Arrivals {
  let count = 0;
  const waiting: { readonly for: number; readonly go: () => void }[] = [];
  return {
    get count() {
      return count;
    },
    arrive() {
      count += 1;
      for (const waiter of waiting) if (waiter.for <= count) waiter.go();
    },
    reach(wanted) {
      if (count >= wanted) return Promise.resolve();
      return new Promise((go) => waiting.push({ for: wanted, go }));
    },
  };
}
