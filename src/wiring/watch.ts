import { type Configuration } from "../config/load.ts";
import { type StoreLayout } from "../store/layout.ts";
import { Alarms } from "../telemetry/alarms.ts";
import { AuditLog } from "../telemetry/audit-log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { makeLogger, type Logger } from "../telemetry/logger.ts";

export interface Watch {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly alarms: Alarms;
  readonly audit: AuditLog;
}

export function wireWatch(
  configuration: Configuration,
  layout: StoreLayout,
  rotation: { readonly maxSize?: number } = {},
): Watch {
  const logger = makeLogger(configuration.log);
  const metrics = new Metrics(new Date());
  const alarms = new Alarms(logger, metrics);
  const audit = new AuditLog({
    ...rotation,
    ...layout.audit,
    now: () => new Date(),
    onLost: (entries, cause) =>
      alarms.raise("audit-lost", { entries, cause: cause.message }),
  });
  return { logger, metrics, alarms, audit };
}
