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

/** A moment on both clocks. */
export interface Moment {
  readonly wall: Date;
  readonly monotonic: number;
}

export function readMoment(clock: Clock): Moment {
  return { wall: clock.now(), monotonic: clock.monotonic() };
}

/** Returns the later moment: what was known at one is known at the other, though the wall clock was set back between them. */
export function laterOf(one: Date, other: Date): Date {
  return one > other ? one : other;
}

/**
 * Milliseconds since `date` was recorded; at least `fresh` where that is not sure.
 * The wall clock may have been stepped since `start`. So `date` is compared
 * with the clock, and with the clock as it would be without the step. A record
 * is fresh when both say so, and no older than the one that says less.
 */
export function ageOf(
  date: Date,
  clock: Clock,
  start: Moment,
  fresh: number,
): number {
  const unstepped =
    start.wall.getTime() + (clock.monotonic() - start.monotonic);
  const ages = [clock.now().getTime(), unstepped]
    .map((now) => now - date.getTime())
    .filter((age) => age >= 0);
  if (ages.length === 0) return fresh;
  return Math.max(Math.min(...ages), Math.min(Math.max(...ages), fresh));
}
