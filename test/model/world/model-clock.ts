import type { Clock } from "../../../src/mirror/cache/clock.ts";

/** Both clocks of the modelled machine, moved by hand. */
export class ModelClock implements Clock {
  #wall = Date.parse("2026-01-01T00:00:00Z");
  #monotonic = 1_000_000;

  now(): Date {
    return new Date(this.#wall);
  }

  monotonic(): number {
    return this.#monotonic;
  }

  pass(milliseconds: number): void {
    this.#wall += milliseconds;
    this.#monotonic += milliseconds;
  }

  /** Sets the wall clock forward or back. */
  step(milliseconds: number): void {
    this.#wall += milliseconds;
  }
}
