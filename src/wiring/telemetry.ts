import { basename } from "node:path";
import { type Configuration } from "../config/load.ts";
import { openAuditKey } from "../store/audit-key.ts";
import { writeDurably } from "../store/durable-file.ts";
import { stagingPath, type StoreLayout } from "../store/layout.ts";
import { readOwnFile } from "../store/own-file.ts";
import { OpenLock } from "../store/process-lock.ts";
import { Alarms } from "../telemetry/alarms.ts";
import { AuditLog, type AuditGuard } from "../telemetry/audit-log.ts";
import { Checkpoints } from "../telemetry/audit/checkpoints.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { makeLogger, type Logger } from "../telemetry/logger.ts";

export interface Telemetry {
  readonly logger: Logger;
  /** Of a daemon; nobody reads those of a command. */
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
    guards: wireAuditGuards(layout),
    now: () => new Date(),
    onRefused: (entries) => metrics?.count("auditFailures", {}, entries),
    onLost: (entries, cause) => {
      metrics?.count("auditFailures", {}, entries);
      alarms.raise("audit-lost", { entries, cause: cause.message });
    },
  });
  return { logger, metrics, alarms, audit };
}

/** Lets the daemon and commands append to the same logs, one at a time, and sign for them. */
export function wireAuditGuards(layout: StoreLayout): {
  readonly requests: AuditGuard;
  readonly decisions: AuditGuard;
} {
  return {
    requests: guard(layout, "requests"),
    decisions: guard(layout, "decisions"),
  };
}

function guard(layout: StoreLayout, log: "requests" | "decisions"): AuditGuard {
  const lock = new OpenLock(layout.auditLocks[log]);
  const note = layout.auditCheckpoints[log];
  return {
    exclusively: (work) =>
      lock.hold("processes that write the audit log", work),
    checkpoints: new Checkpoints({
      log: basename(layout.audit[log]),
      key: () => openAuditKey(layout),
      read: () => readOwnFile(note),
      write: (text) => writeDurably(stagingPath(layout, "note"), note, text),
    }),
  };
}
