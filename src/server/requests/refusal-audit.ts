import { isFailure, type ProvenderError } from "../../errors/index.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { Asker } from "../../telemetry/asker.ts";
import type { AuditLog } from "../../store/database/audit-log.ts";
import type { AuditEntry } from "../../telemetry/audit-entry.ts";
import { LineLimit } from "../../telemetry/line-limit.ts";
import { subjectOf, type PathNames } from "./request-log.ts";

/** Lines for the same refusal of a client, for each client, and for all. */
const mostLines = { window: 60_000, same: 10, group: 60, all: 600 };

export type RecordRefusal = ReturnType<typeof recordRefusals>;

/** Records refusals within limits, so that no client can push other clients' lines out of the log. */
export function recordRefusals(audit: AuditLog, alarms: Alarms) {
  const limit = new LineLimit(mostLines);
  return (names: PathNames, error: ProvenderError, asker: Asker): void => {
    const facts = describe(names, error);
    const key = JSON.stringify([asker.client, facts]);
    const { provider, version, detail } = facts;
    const alarm = findAlarm(error);
    if (alarm) alarms.raise(alarm, { provider, version, detail });
    if (limit.take(key, asker.client) === "line")
      void audit.record({ ...asker, ...facts }, { durable: false });
  };
}

/** A download raises its own alarm for an archive that differs from the signed one. */
function findAlarm(error: ProvenderError) {
  if (isFailure(error, "signature-refused")) return "signature-refused";
  if (isFailure(error, "checksum-conflict")) return "archive-tampered";
  return undefined;
}

function describe(names: PathNames, error: ProvenderError): AuditEntry {
  const facts = error as unknown as Readonly<Record<string, unknown>>;
  return {
    event: "refused",
    verdict: "refused",
    reason: error.code,
    detail: error.message,
    rule: isFailure(error, "key-refused")
      ? `trust: ${error.because}`
      : textOf(facts.rule),
    fingerprint: textOf(facts.fingerprint),
    sha256: textOf(facts.got),
    ...subjectOf(names),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
