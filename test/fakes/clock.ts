import type { Clock } from "../../src/mirror/cache/clock.ts";

/** Both clocks of a machine, moved by hand. */
export class TestClock implements Clock {
  #wall = Date.parse("2026-01-01T00:00:00Z");
  #monotonic = 1_000;

  now(): Date {
    return new Date(this.#wall);
  }

  monotonic(): number {
    return this.#monotonic;
  }

  pass(ms: number): void {
    this.#wall += ms;
    this.#monotonic += ms;
  }

  /** Sets the wall clock without passing time. */
  step(ms: number): void {
    this.#wall += ms;
  }
}
