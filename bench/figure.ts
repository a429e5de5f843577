/** One number of the table; `atLeast` or `atMost` is its target. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: "×" | "ms" | "MiB" | "requests";
  readonly target:
    | { readonly atLeast: number }
    | { readonly atMost: number }
    | { readonly exactly: number };
}

export function isMet({ value, target }: Figure): boolean {
  if ("atLeast" in target) return value >= target.atLeast;
  if ("atMost" in target) return value <= target.atMost;
  return value === target.exactly;
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
): Promise<{
  readonly ours: readonly Ours[];
  readonly theirs: readonly Theirs[];
}> {
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

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
