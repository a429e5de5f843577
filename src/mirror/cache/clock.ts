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

/**
 * Milliseconds since `date` was written down; undefined when it lies ahead. The
 * wall clock may have been stepped since `start`, before or after the date was
 * written, so it is compared with both what the clock says and what it would say
 * without the step.
 */
export function ageOf(
  date: Date,
  clock: Clock,
  start: Moment,
): number | undefined {
  const unstepped =
    start.wall.getTime() + (clock.monotonic() - start.monotonic);
  const ages = [clock.now().getTime(), unstepped]
    .map((now) => now - date.getTime())
    .filter((age) => age >= 0);
  return ages.length === 0 ? undefined : Math.min(...ages);
}
