import type { Alarms } from "../../telemetry/alarms.ts";
import type { AuditLog } from "../../telemetry/audit-log.ts";
import type { Clock } from "../cache/clock.ts";

/** Where it is told, beside the ledger, what becomes of keys and releases. */
export interface Notebook {
  readonly audit: AuditLog;
  readonly alarms: Alarms;
  readonly clock: Clock;
}
