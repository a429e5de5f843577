import type { Clock } from "../../../src/mirror/cache/clock.ts";
import type { Registry } from "./registry.ts";

/** An alarm as it was raised. */
export interface RaisedAlarm {
  readonly kind: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Both clocks of a machine, moved by hand. */
export interface MachineClock extends Clock {
  /** Lets so many milliseconds go by on both. */
  pass(milliseconds: number): Promise<void> | void;
  /** Sets the wall clock forward or back. */
  step(milliseconds: number): void;
}

/** State that outlives the processes of a sequence, and the alarms they raised. */
export interface Machine {
  readonly clock: MachineClock;
  readonly alarms: readonly RaisedAlarm[];
  readonly registry: Registry;
}
