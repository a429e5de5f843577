/** Counts of requests and answers; it keeps no entries, so its size is bounded. */
export class Ledger {
  /** By what was asked for. */
  readonly requests = new Map<string, number>();
  /** By what was asked for and what went wrong: `cold archive: 502`. */
  readonly failures = new Map<string, number>();
  /** First examples of answers that must never happen. */
  readonly broken: string[] = [];
  brokenInAll = 0;
  wrongBytes = 0;

  asked(what: string): void {
    increment(this.requests, what);
  }

  failed(what: string, how: string): void {
    increment(this.failures, `${what}: ${how}`);
  }

  break(what: string): void {
    this.brokenInAll++;
    if (this.broken.length < 10) this.broken.push(what);
  }

  /** A whole answer that is not what was published. */
  wrong(what: string): void {
    this.wrongBytes++;
    this.break(`wrong bytes: ${what}`);
  }

  get total(): number {
    return this.requests.values().reduce((sum, count) => sum + count, 0);
  }
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
