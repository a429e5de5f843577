/** A value at a time in milliseconds. */
export type Sample = readonly [at: number, value: number];

/** The slope of the line of least squares, for each hour; NaN for fewer than two moments. */
export function slopePerHour(samples: readonly Sample[]): number {
  const mean = (pick: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + pick(sample), 0) / samples.length;
  const at = mean(([time]) => time);
  const value = mean(([, height]) => height);
  const covariance = mean(([time, height]) => (time - at) * (height - value));
  const variance = mean(([time]) => (time - at) ** 2);
  return (covariance / variance) * 3_600_000;
}

/** The least value of each span: what is left when garbage was just collected. */
export function floorOf(
  samples: readonly Sample[],
  span: number,
): readonly Sample[] {
  const spans = Map.groupBy(samples, ([at]) => Math.floor(at / span));
  return [...spans.values()].map((some) =>
    some.reduce((least, sample) => (sample[1] < least[1] ? sample : least)),
  );
}

const warmUp = 60_000;
const span = 10_000;
const shortest = 120_000;

export interface Trend {
  readonly first: number;
  readonly last: number;
  readonly most: number;
  /** Undefined when the run was too short to tell. */
  readonly perHour: number | undefined;
  /** Growth of the fitted line over the run, or an hour of a longer one. */
  readonly growth: number | undefined;
}

/** Fits a line to the samples after the first minute, when caches fill. */
export function trendOf(samples: readonly Sample[]): Trend {
  const values = samples.map(([, value]) => value);
  const late = samples.filter(([at]) => at >= warmUp);
  const [from] = late[0] ?? [0];
  const [to] = late.at(-1) ?? [0];
  const isLong = to - from >= shortest;
  const perHour = isLong ? slopePerHour(floorOf(late, span)) : undefined;
  const hours = Math.min(1, (to - from) / 3_600_000);
  return {
    first: values[0] ?? NaN,
    last: values.at(-1) ?? NaN,
    most: values.reduce((most, value) => Math.max(most, value), -Infinity),
    perHour,
    growth: perHour === undefined ? undefined : perHour * hours,
  };
}

const minute = 60_000;
const hour = 60 * minute;

/** Fits the last half hour and returns its hourly rise; undefined for runs below an hour. */
export function lateSlopeOf(samples: readonly Sample[]): number | undefined {
  const end = endOf(samples);
  if (end < hour - minute) return undefined;
  const late = samples.filter(([at]) => at >= end - hour / 2);
  return slopePerHour(floorOf(late, span));
}

/** Compares the end of the second hour with the end of the first; undefined for shorter runs. */
export function secondHourOf(samples: readonly Sample[]): number | undefined {
  if (endOf(samples) < 2 * hour - minute) return undefined;
  const meanBefore = (end: number) => {
    const some = samples.filter(([at]) => at >= end - hour / 4 && at < end);
    const floor = floorOf(some, span).map(([, value]) => value);
    return floor.reduce((sum, value) => sum + value, 0) / floor.length;
  };
  return meanBefore(2 * hour) - meanBefore(hour);
}

function endOf(samples: readonly Sample[]): number {
  return samples.at(-1)?.[0] ?? 0;
}
