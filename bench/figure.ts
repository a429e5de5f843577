/** One number of the table, with its target. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: "×" | "ms" | "MiB" | "requests";
  readonly sign: "≥" | "≤" | "=";
  readonly target: number;
  readonly isMet: boolean;
}

export function figure(
  what: string,
  value: number,
  unit: Figure["unit"],
  sign: Figure["sign"],
  target: number,
): Figure {
  const isMet = {
    "≥": value >= target,
    "≤": value <= target,
    "=": value === target,
  }[sign];
  return { what, value, unit, sign, target, isMet };
}

/** The middle of an odd number of values, the mean of the two middle ones of an even number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = NaN, high = low] = sorted.slice(
    Math.ceil(sorted.length / 2) - 1,
    Math.floor(sorted.length / 2) + 1,
  );
  return (low + high) / 2;
}

/** One after the other in every round, so that what else the machine does weighs on both alike. */
export async function interleave<Ours, Theirs>(
  rounds: number,
  ours: (round: number) => Promise<Ours>,
  theirs: (round: number) => Promise<Theirs>,
) {
  const measured = { ours: [] as Ours[], theirs: [] as Theirs[] };
  for (let round = 0; round < rounds; round++) {
    measured.theirs.push(await theirs(round));
    measured.ours.push(await ours(round));
  }
  return measured;
}

/** The median of the ratios of each round. */
export function ratioOf(
  ours: readonly number[],
  theirs: readonly number[],
): number {
  return median(ours.map((value, round) => value / (theirs[round] ?? NaN)));
}

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
