import { basename } from "node:path";
import pLimit from "p-limit";
import type { StoreLayout } from "../store/layout.ts";
import type { ChainHead } from "../telemetry/audit/chain.ts";
import { filesKept } from "../telemetry/audit/log-files.ts";
import { findLogEnd } from "../telemetry/audit/log-end.ts";
import type { LogToRead } from "../telemetry/audit/verify-log.ts";

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
