/** The wall clock for what is written down, and one that no clock step moves for freshness; both injected. */
export interface Clock {
  now(): Date;
  /** Milliseconds since some fixed moment. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
};

/** Returns the later moment: what was known at one is known at the other, though the wall clock was set back between them. */
export function laterOf(one: Date, other: Date): Date {
  return one > other ? one : other;
}
