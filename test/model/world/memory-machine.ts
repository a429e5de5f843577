import type { AuditEntry } from "../../../src/telemetry/audit-entry.ts";
import type { Machine, RaisedAlarm } from "./machine.ts";
import { MemoryDisk } from "./memory-disk.ts";
import { ModelClock } from "./model-clock.ts";
import type { Registry } from "./registry.ts";

/** A machine that is modelled whole. */
export class MemoryMachine implements Machine {
  readonly clock = new ModelClock();
  readonly disk = new MemoryDisk();
  readonly alarms: RaisedAlarm[] = [];
  readonly audit: AuditEntry[] = [];
  readonly registry: Registry;

  constructor(registry: Registry) {
    this.registry = registry;
  }
}
