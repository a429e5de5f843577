import { type Configuration } from "../config/load.ts";
import { AuditLog } from "../store/database/audit-log.ts";
import { openDatabase } from "../store/database/database.ts";
import type { StoreLayout } from "../store/layout.ts";
import { Alarms } from "../telemetry/alarms.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { makeLogger } from "../telemetry/logger.ts";

/** Where a process reports; `metrics` are a daemon's, `audit` and what the mirror knows are in the database. */
export type Telemetry = ReturnType<typeof wireTelemetry>;

export interface DaemonTelemetry extends Telemetry {
  readonly metrics: Metrics;
}

/** Throws what `openDatabase` throws. `close` writes what waits; nothing can be asked from then on. */
export function wireTelemetry(
  configuration: Configuration,
  layout: StoreLayout,
  metrics?: Metrics,
) {
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
