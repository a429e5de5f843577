import { inspect } from "node:util";
import { LineLimit } from "./line-limit.ts";
import { alarms, type AlarmKind } from "./definitions.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";

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

  raise(kind: AlarmKind, facts: Readonly<Record<string, unknown>>): void {
    const key = `${kind} ${inspect(facts, { depth: 4 })}`;
    const line = this.#limit.take(key, kind);
    if (line === "again") return;
    this.#metrics?.alarms.inc({ kind });
    this.#metrics?.alarmTimes.setToCurrentTime({ kind });
    if (line === "line")
      this.#logger.error({ alarm: kind, ...facts }, alarms[kind]);
  }
}
