/** Random numbers from a seed: the same on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) ^ 0x5bf03635;
  }

  /** Returns a number from 0 up to 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number from 0 up to `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError("nothing to pick from");
    return list[this.below(list.length)] as T;
  }

  /** Picks a value in proportion to its weight. */
  weigh<T>(values: readonly (readonly [number, T])[]): T {
    const sum = values.reduce((total, [weight]) => total + weight, 0);
    let left = this.next() * sum;
    for (const [weight, value] of values) {
      left -= weight;
      if (left < 0) return value;
    }
    return this.pick(values)[1];
  }
}
