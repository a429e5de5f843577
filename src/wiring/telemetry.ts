import { type Configuration } from "../config/load.ts";
import type { StoreLayout } from "../store/layout.ts";
import { Alarms } from "../telemetry/alarms.ts";
import { AuditLog } from "../telemetry/audit-log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { makeLogger, type Logger } from "../telemetry/logger.ts";

export interface Telemetry {
  readonly logger: Logger;
  /** Those of a daemon; a command's are never read. */
  readonly metrics?: Metrics | undefined;
  readonly alarms: Alarms;
  readonly audit: AuditLog;
}

export interface DaemonTelemetry extends Telemetry {
  readonly metrics: Metrics;
}

export function wireTelemetry(
  configuration: Configuration,
  layout: StoreLayout,
  metrics?: Metrics,
): Telemetry {
  const logger = makeLogger(configuration.log);
  const alarms = new Alarms(logger, metrics);
  const audit = new AuditLog({
    ...layout.audit,
    now: () => new Date(),
    onRefused: (entries) => metrics?.count("auditFailures", {}, entries),
    onLost: (entries, cause) => {
      metrics?.count("auditFailures", {}, entries);
      alarms.raise("audit-lost", { entries, cause: cause.message });
    },
  });
  return { logger, metrics, alarms, audit };
}
