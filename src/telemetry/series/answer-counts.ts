interface Counts {
  requests: number;
  bytes: number;
}

/** What one outcome and status add to the counters. */
interface Counted extends Readonly<Counts> {
  readonly outcome: string;
  readonly status: number;
}

/** Answers since the counters were read last: to look up a counter's labels takes longer than all that is done here. */
export class AnswerCounts {
  readonly #outcomes = new Map<string, Map<number, Counts>>();

  add(outcome: string, status: number, bytes: number): void {
    const counts = this.#outcomes.get(outcome)?.get(status);
    if (counts === undefined) {
      this.#begin(outcome, status, bytes);
      return;
    }
    counts.requests++;
    counts.bytes += bytes;
  }

  /** Counts from zero afterwards. */
  *take(): Generator<Counted> {
    const outcomes = [...this.#outcomes];
    this.#outcomes.clear();
    for (const [outcome, statuses] of outcomes)
      for (const [status, counts] of statuses)
        yield { outcome, status, ...counts };
  }

  #begin(outcome: string, status: number, bytes: number): void {
    const statuses = this.#outcomes.get(outcome) ?? new Map<number, Counts>();
    statuses.set(status, { requests: 1, bytes });
    this.#outcomes.set(outcome, statuses);
  }
}
