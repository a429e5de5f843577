import { inspect } from "node:util";
import { LineLimit } from "./line-limit.ts";
import type { Logger } from "./logger.ts";
import type { AlarmKind, Metrics } from "./metrics.ts";

const sentences: Readonly<Record<AlarmKind, string>> = {
  "release-replaced":
    "the origin offers other content for a release than it did at first; clients keep getting the first",
  "key-new": "a namespace has a new signing key",
  "key-refused": "a release is held back because of its signing key",
  "signature-refused":
    "an origin offers a release whose signature does not hold",
  "archive-tampered":
    "an origin sent an archive that is not the one that was signed, or seen first",
  "unexpected-error":
    "something happened that no code foresaw; what it was about was ended",
  "versions-vanished":
    "the origin no longer lists versions that it had listed, or has no documents of the newest ones",
  "archive-damaged":
    "a stored archive was not what its name says, or could not be read; it is dropped and fetched again when it is asked for",
  "record-unreadable":
    "a trust record is damaged; releases that depend on it are refused",
  "trust-reset":
    "an operator had a first contact forgotten; the next one counts as the first",
  "decision-undone":
    "audit/decisions.jsonl has an operator's decision that the database has not, as after an older backup was put back; it does not count",
  "database-failing":
    "the database does not answer; what is in memory is served, and everything else is refused",
  "bucket-failing":
    "the bucket, or this replica's way to it, is not as it has to be; what was seen of it is served",
  "audit-lost": "a line of the audit log could not be written",
  "module-replaced":
    "the origin offers other content for a module than is pinned; clients keep getting the pinned one",
};

/** The same alarm once, and lines of each kind, so that the rest of the log stays readable. */
const mostLines = { window: 600_000, same: 1, group: 600, all: Infinity };

/** Raises alarms: a line in the log and a count, once for repeated ones. */
export class Alarms {
  readonly #logger: Logger;
  readonly #metrics: Metrics | undefined;
  readonly #limit = new LineLimit(mostLines);

  /** Counted in `metrics`, where there are any. */
  constructor(logger: Logger, metrics: Metrics | undefined) {
    this.#logger = logger;
    this.#metrics = metrics;
  }

  /** Raises an alarm; never throws for any facts. */
  raise(kind: AlarmKind, facts: Readonly<Record<string, unknown>>): void {
    const key = `${kind} ${inspect(facts, { depth: 4 })}`;
    const line = this.#limit.take(key, kind);
    if (line === "again") return;
    this.#metrics?.countAlarm(kind);
    if (line === "line")
      this.#logger.error({ alarm: kind, ...facts }, sentences[kind]);
  }
}
