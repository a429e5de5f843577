import { type Configuration } from "../config/load.ts";
import { type StoreLayout } from "../store/layout.ts";
import { OpenLock } from "../store/process-lock.ts";
import { Alarms } from "../telemetry/alarms.ts";
import { AuditLog, type AuditGuard } from "../telemetry/audit-log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { makeLogger, type Logger } from "../telemetry/logger.ts";

export interface Telemetry {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly alarms: Alarms;
  readonly audit: AuditLog;
}

export function wireTelemetry(
  configuration: Configuration,
  layout: StoreLayout,
): Telemetry {
  const logger = makeLogger(configuration.log);
  const metrics = new Metrics(new Date());
  const alarms = new Alarms(logger, metrics);
  const audit = new AuditLog({
    ...layout.audit,
    guards: wireAuditGuards(layout),
    now: () => new Date(),
    onLost: (entries, cause) =>
      alarms.raise("audit-lost", { entries, cause: cause.message }),
  });
  return { logger, metrics, alarms, audit };
}

/** Lets the daemon and commands append to the same logs, one at a time. */
export function wireAuditGuards({ auditLocks }: StoreLayout): {
  readonly requests: AuditGuard;
  readonly decisions: AuditGuard;
} {
  return {
    requests: guard(auditLocks.requests),
    decisions: guard(auditLocks.decisions),
  };
}

function guard(path: string): AuditGuard {
  const lock = new OpenLock(path);
  return {
    exclusively: (work) =>
      lock.hold("processes that write the audit log", work),
  };
}
