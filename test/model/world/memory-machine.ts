import type { AuditEntry } from "../../../src/telemetry/audit-entry.ts";
import { MemoryDisk } from "./memory-disk.ts";
import { TestClock } from "../../fakes/clock.ts";
import type { Registry } from "./registry.ts";

/** An alarm as it was raised. */
export interface RaisedAlarm {
  readonly kind: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** A machine that is modelled whole. */
export class MemoryMachine {
  readonly clock = new TestClock();
  readonly disk = new MemoryDisk();
  readonly alarms: RaisedAlarm[] = [];
  readonly audit: AuditEntry[] = [];
  readonly registry: Registry;

  constructor(registry: Registry) {
    this.registry = registry;
  }
}
