import { renameSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { MachineClock } from "../world/machine.ts";

/** The clocks of this machine, of which libfaketime shows processes a wall clock that is off. */
export class SteppedClock implements MachineClock {
  readonly #file: string;
  readonly #longest: number;
  readonly #isBounded: boolean;
  #seconds = 0;

  /**
   * `file` is what libfaketime reads; `longest` is what is waited for at most, in
   * milliseconds. Replicas never take their clock for later than the bucket's, which
   * is `isBounded`.
   */
  constructor(
    file: string,
    {
      longest,
      isBounded,
    }: { readonly longest: number; readonly isBounded: boolean },
  ) {
    this.#file = file;
    this.#longest = longest;
    this.#isBounded = isBounded;
    this.#write();
  }

  now(): Date {
    const seconds = this.#isBounded
      ? Math.min(0, this.#seconds)
      : this.#seconds;
    return new Date(Date.now() + seconds * 1_000);
  }

  monotonic(): number {
    return performance.now();
  }

  /** Waits for a while; the wall clock is set to the rest, as after a sleep of the machine. */
  async pass(milliseconds: number): Promise<void> {
    const waited = Math.min(milliseconds, this.#longest);
    await delay(waited);
    this.step(milliseconds - waited);
  }

  step(milliseconds: number): void {
    this.#seconds += Math.round(milliseconds / 1_000);
    this.#write();
  }

  /** Processes read it at any time, and never find half of it. */
  #write(): void {
    const sign = this.#seconds < 0 ? "" : "+";
    writeFileSync(`${this.#file}.new`, `${sign}${this.#seconds}\n`);
    renameSync(`${this.#file}.new`, this.#file);
  }
}
