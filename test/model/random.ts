/** Random numbers from a seed (mulberry32): the same on every machine. */
export function randomFrom(seed: number) {
  let state = Math.imul(seed, 0x9e3779b1) ^ 0x5bf03635;
  /** From 0 up to 1. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A whole number from 0 up to `count`. */
  const below = (count: number): number => Math.floor(next() * count);
  const chance = (probability: number): boolean => next() < probability;
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new RangeError("nothing to pick from");
    return list[below(list.length)] as T;
  };
  /** The value of one maker, chosen in proportion to its weight. */
  const choose = <T>(makers: readonly (readonly [number, () => T])[]): T => {
    let left = next() * makers.reduce((sum, [weight]) => sum + weight, 0);
    const isChosen = ([weight]: readonly [number, unknown]) =>
      (left -= weight) < 0;
    return (makers.find(isChosen) ?? pick(makers))[1]();
  };
  /** A name in proportion to its weight. */
  const weigh = <K extends string>(weights: Readonly<Record<K, number>>): K =>
    choose(
      Object.entries<number>(weights).map(([name, weight]) => [
        ...([weight, () => name as K] as const),
      ]),
    );
  return { below, chance, choose, pick, weigh };
}
