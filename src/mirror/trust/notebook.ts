import type { PolicyRefusal } from "./admission-rules.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { AuditLog } from "../../telemetry/audit-log.ts";
import type { Clock } from "../cache/clock.ts";

/** Outputs for events of keys and releases, beside the ledger. */
export interface Notebook {
  readonly audit: AuditLog;
  readonly alarms: Alarms;
  readonly clock: Clock;
  /** Hears of each request that a policy which only reports would have refused. */
  readonly onReported?: (error: PolicyRefusal) => void;
}

/** A line for each request, as for one that is served. */
export function noteReported(
  { audit, onReported }: Notebook,
  error: PolicyRefusal,
): void {
  const { provider, version, rule, code: reason, message: detail } = error;
  const isModule = provider.split("/").length > 3;
  const subject = isModule ? { module: provider } : { provider };
  const facts = { ...subject, version, rule, reason, detail };
  const entry = { event: "refused", verdict: "reported", ...facts } as const;
  void audit.record(entry, { durable: false });
  onReported?.(error);
}
