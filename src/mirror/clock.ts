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
