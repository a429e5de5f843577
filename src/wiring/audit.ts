import { basename } from "node:path";
import type { StoreLayout } from "../store/layout.ts";
import { OpenLock } from "../store/process-lock.ts";
import type { ChainHead } from "../telemetry/audit/chain.ts";
import { filesKept } from "../telemetry/audit/log-files.ts";
import { findLogEnd } from "../telemetry/audit/log-end.ts";
import type { LogToRead } from "../telemetry/audit/verify-log.ts";

type LogName = keyof StoreLayout["audit"];

/** The audit logs of a store, to which the daemon and commands append one at a time. */
export function wireAuditLogs(
  layout: StoreLayout,
): Readonly<Record<LogName, LogToRead>> {
  const make = (name: LogName): LogToRead => {
    const lock = new OpenLock(layout.auditLocks[name]);
    return {
      path: layout.audit[name],
      exclusively: (work) =>
        lock.hold("processes that write the audit log", work),
    };
  };
  return { decisions: make("decisions"), requests: make("requests") };
}

/** Head of a log's chain. */
interface AuditHead extends ChainHead {
  /** The name of its current file. */
  readonly log: string;
}

/** Reads where the chains of the audit logs stand. */
export function readAuditHeads({
  audit,
}: StoreLayout): Promise<readonly AuditHead[]> {
  return Promise.all(
    [audit.decisions, audit.requests].map(async (path) => ({
      log: basename(path),
      ...(await findLogEnd(path, filesKept)),
    })),
  );
}
