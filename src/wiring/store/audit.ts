import type { Configuration } from "../../config/load.ts";
import { AuditWaits, isBucketFailure } from "../../errors/index.ts";
import type { StoreLayout } from "../../store/layout.ts";
import { AuditUpload } from "../../store/bucket/audit/audit-upload.ts";
import { OpenLock } from "../../store/process-lock.ts";
import type { LogToRead } from "../../telemetry/audit/verify-log.ts";
import { wireAuditGuards, type Telemetry } from "../telemetry.ts";
import { wireBucket } from "./bucket.ts";
import type { Replica } from "./replica.ts";

/** The audit logs of this store. */
export function listAuditLogs(layout: StoreLayout): readonly LogToRead[] {
  const { requests, decisions } = wireAuditGuards(layout);
  return [
    { path: layout.audit.decisions, ...decisions },
    { path: layout.audit.requests, ...requests },
  ];
}

/** What closes the audit log, after all that writes to it. */
interface SharedAudit {
  /** With `always` also what other processes left is brought. Throws StoreUnusable, and AuditWaits when the bucket is to have lines and does not. */
  close(options?: { readonly always: boolean }): Promise<void>;
}

/** Has decisions wait until the bucket has them, where there is one. */
export function wireSharedAudit(
  { storage: { s3 } }: Configuration,
  layout: StoreLayout,
  { audit, alarms, metrics, logger }: Telemetry,
  replica: Replica | undefined,
): SharedAudit {
  if (s3 === undefined || replica === undefined)
    return { close: () => audit.close() };
  // A connection of its own, which is still open when the last lines are written.
  const bucket = wireBucket(s3);
  const lock = new OpenLock(layout.auditLocks.upload);
  const upload = new AuditUpload(bucket, listAuditLogs(layout), {
    exclusively: (work) =>
      lock.hold("processes that bring the audit log into the bucket", work),
    problem: () => replica.watch.problem,
    onLost: (log, entries) => {
      metrics?.count("auditFailures", {}, entries);
      const cause = `they left the disk before the bucket had them (${log})`;
      alarms.raise("audit-lost", { entries, cause });
    },
    onFailed: (error) =>
      logger[isBucketFailure(error) ? "warn" : "error"](
        { err: error },
        "the audit log is not brought into the bucket for now",
      ),
  });
  audit.shareBy(() => upload.bring());
  return {
    close: async ({ always } = { always: false }) => {
      await audit.close();
      const waiting = await upload.close(always || audit.hasEntries);
      if (waiting !== undefined)
        throw new AuditWaits(layout.directory, waiting);
    },
  };
}
