/** Milliseconds of one monotonic clock. */
export interface BreakerTimes {
  /**
   * Milliseconds from the opening to the first probe; doubled after each probe
   * that fails.
   */
  readonly first: number;
  readonly longest: number;
}

/** Names the probe of one opening. */
export type Probe = number;

/** Failures in a row that open a breaker. */
const failuresToOpen = 5;

/**
 * Circuit breaker. After five failures in a row, or on request, it stays open
 * for a while. Then one request at a time probes, and the first success closes
 * it.
 */
export class Breaker {
  readonly #times: BreakerTimes;
  readonly #failed = new Set<string | undefined>();
  #failures = 0;
  #openings = 0;
  #until: number | undefined;
  #since: number | undefined;
  #probing = false;

  constructor(times: BreakerTimes) {
    this.#times = times;
  }

  get isOpen(): boolean {
    return this.#until !== undefined;
  }

  /**
   * Time of the first failure in a row, or of the first pause; undefined while
   * the host is healthy.
   */
  get failingSince(): number | undefined {
    return this.#since;
  }

  /** Milliseconds until a request may pass; 0 when one may now. */
  wait(now: number): number {
    if (this.#until === undefined) return 0;
    const left = Math.max(0, this.#until - now);
    return this.#probing ? Math.max(this.#times.first, left) : left;
  }

  /**
   * Registers a request that passes. Returns undefined, or the probe that it
   * is.
   */
  pass(): Probe | undefined {
    if (this.#until === undefined) return undefined;
    this.#probing = true;
    return this.#openings;
  }

  /** Ends a probe without a verdict. */
  release(probe: Probe | undefined): void {
    if (probe === this.#openings) this.#probing = false;
  }

  /** Only its probe closes what is open, since answers to older requests are no news; true when it did. */
  succeed(probe: Probe | undefined): boolean {
    const wasOpen = this.isOpen;
    if (wasOpen && probe !== this.#openings) return false;
    this.#failed.clear();
    this.#failures = 0;
    this.#openings = 0;
    this.#until = undefined;
    this.#since = undefined;
    this.#probing = false;
    return wasOpen;
  }

  /**
   * Counts a failure. `subject` limits it to one subject; failures of one
   * subject alone open nothing. Returns for how long this opens the breaker, or
   * undefined.
   */
  fail(
    now: number,
    probe: Probe | undefined,
    subject?: string,
  ): number | undefined {
    this.#since ??= now;
    if (this.isOpen)
      return probe === this.#openings ? this.#open(now, 0) : undefined;
    this.#failures++;
    if (this.#failed.size < 2) this.#failed.add(subject);
    const isCommon = this.#failed.size > 1 || this.#failed.has(undefined);
    return this.#failures >= failuresToOpen && isCommon
      ? this.#open(now, 0)
      : undefined;
  }

  /** Opens it for as long as was asked, or for its own time; never for less than was asked before. */
  pause(now: number, asked: number | undefined): number {
    return this.#open(now, (this.#until ?? now) - now, asked);
  }

  #open(now: number, least: number, asked = this.#nextTime()): number {
    const ms = Math.max(least, asked);
    this.#openings++;
    this.#until = now + ms;
    this.#since ??= now;
    this.#probing = false;
    return ms;
  }

  #nextTime(): number {
    const { first, longest } = this.#times;
    return Math.min(longest, first * 2 ** Math.min(this.#openings, 30));
  }
}
