/**
 * Source of an answer: cache, another client's request, origin, or an outdated
 * copy.
 */
export type Outcome = "hit" | "joined" | "fetched" | "stale";

export interface Answer<V> {
  readonly value: V;
  readonly outcome: Outcome;
  /** Milliseconds since the origin last confirmed the value. */
  readonly age: number;
  /** Milliseconds spent asking the origin; 0 when it was not asked. */
  readonly originTime: number;
}

/** Wraps a cached value for which no origin was asked. */
export function asHit<T>(value: T): Answer<T> {
  return { value, outcome: "hit", age: 0, originTime: 0 };
}
