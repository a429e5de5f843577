/** How a question was answered: from what was held, with another asker's request, by the origin, or from what is out of date. */
export type Outcome = "hit" | "joined" | "fetched" | "stale";

export interface Answer<V> {
  readonly value: V;
  readonly outcome: Outcome;
  /** Milliseconds since the origin last confirmed the value. */
  readonly age: number;
  /** Milliseconds spent asking the origin; 0 when it was not asked. */
  readonly originTime: number;
}

/** What is held, and never asked for. */
export function asHit<T>(value: T): Answer<T> {
  return { value, outcome: "hit", age: 0, originTime: 0 };
}
