import { type Configuration } from "../config/load.ts";
import { AuditLog } from "../store/database/audit-log.ts";
import { openDatabase } from "../store/database/database.ts";
import type { Database } from "../store/database/transactions.ts";
import type { StoreLayout } from "../store/layout.ts";
import { Alarms } from "../telemetry/alarms.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { makeLogger, type Logger } from "../telemetry/logger.ts";

export interface Telemetry {
  readonly logger: Logger;
  /** Those of a daemon; a command's are never read. */
  readonly metrics?: Metrics | undefined;
  readonly alarms: Alarms;
  /** Where the audit log is, and what the mirror knows. */
  readonly database: Database;
  readonly audit: AuditLog;
  /** Writes what waits; nothing can be asked from then on. */
  close(): Promise<void>;
}

export interface DaemonTelemetry extends Telemetry {
  readonly metrics: Metrics;
}

/** Throws what `openDatabase` throws. */
export function wireTelemetry(
  configuration: Configuration,
  layout: StoreLayout,
  metrics?: Metrics,
): Telemetry {
  const logger = makeLogger(configuration.log);
  const alarms = new Alarms(logger, metrics);
  const { url } = configuration.database;
  const onProblem = (problem: string | undefined) => {
    if (problem === undefined) logger.info("the database is well again");
    else alarms.raise("database-failing", { problem });
  };
  // That of the directory, or the server's that many daemons share.
  const database = openDatabase(layout, url && { url: url.secret, onProblem });
  const audit = new AuditLog({
    ...{ database, logger, decisions: layout.decisions },
    onLost: (entries, cause) => {
      metrics?.auditFailures.inc(entries);
      alarms.raise("audit-lost", { entries, cause: (cause as Error).message });
    },
  });
  const close = async () => {
    await audit.flush();
    await database.close();
  };
  return { logger, metrics, alarms, database, audit, close };
}
