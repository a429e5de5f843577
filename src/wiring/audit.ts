import pLimit from "p-limit";
import type { StoreLayout } from "../store/layout.ts";
import type { LogToRead } from "../telemetry/audit/read-log.ts";

type LogName = keyof StoreLayout["audit"];

export type AuditLogs = Readonly<Record<LogName, LogToRead>>;

/** The audit logs of a store, which are not opened for reading while a line is appended. */
export function wireAuditLogs({ audit }: StoreLayout): AuditLogs {
  const make = (name: LogName): LogToRead => {
    const exclusively = pLimit(1);
    return { path: audit[name], exclusively };
  };
  return { decisions: make("decisions"), requests: make("requests") };
}
