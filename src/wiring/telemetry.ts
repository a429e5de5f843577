import { type Configuration } from "../config/load.ts";
import pLimit from "p-limit";
import type { StoreLayout } from "../store/layout.ts";
import { Alarms } from "../telemetry/alarms.ts";
import { AuditLog } from "../telemetry/audit-log.ts";
import type { LogToRead } from "../telemetry/audit-reader.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { makeLogger, type Logger } from "../telemetry/logger.ts";

export interface Telemetry {
  readonly logger: Logger;
  /** Those of a daemon; a command's are never read. */
  readonly metrics?: Metrics | undefined;
  readonly alarms: Alarms;
  readonly audit: AuditLog;
  /** The same logs for reading. */
  readonly auditLogs: AuditLogs;
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
  const auditLogs = wireAuditLogs(layout);
  const audit = new AuditLog({
    ...layout.audit,
    guards: auditLogs,
    now: () => new Date(),
    onRefused: (entries) => metrics?.count("auditFailures", {}, entries),
    onLost: (entries, cause) => {
      metrics?.count("auditFailures", {}, entries);
      alarms.raise("audit-lost", { entries, cause: cause.message });
    },
  });
  return { logger, metrics, alarms, audit, auditLogs };
}

type LogName = keyof StoreLayout["audit"];

type AuditLogs = Readonly<Record<LogName, LogToRead>>;

/** The audit logs of a store, which are not opened for reading while a line is appended. */
export function wireAuditLogs({ audit }: StoreLayout): AuditLogs {
  const make = (name: LogName): LogToRead => {
    const exclusively = pLimit(1);
    return { path: audit[name], exclusively };
  };
  return { decisions: make("decisions"), requests: make("requests") };
}
