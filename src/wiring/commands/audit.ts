import { rm } from "node:fs/promises";
import type { Configuration } from "../../config/load.ts";
import { openAuditKey } from "../../store/audit-key.ts";
import { downloadAudit } from "../../store/bucket/audit/audit-download.ts";
import { nameReplica } from "../../store/bucket/audit/audit-head.ts";
import { stagingPath, type StoreLayout } from "../../store/layout.ts";
import type { LogToRead } from "../../telemetry/audit/verify-log.ts";
import { listAuditLogs } from "../store/audit.ts";
import { wireBucket } from "../store/bucket.ts";
import { openLayout } from "./layout.ts";

/** The audit logs of a store, to be read beside a running daemon, and those of other replicas. */
export async function wireAuditReading(configuration: Configuration) {
  const layout = await openLayout(configuration);
  return {
    own: listAuditLogs(layout),
    openShared: () => openSharedAudit(configuration, layout),
  };
}

/** The audit logs of all other replicas, in files that go when it is disposed of. Throws what the bucket throws. */
async function openSharedAudit(
  { storage: { s3 } }: Configuration,
  layout: StoreLayout,
): Promise<AsyncDisposable & { readonly logs: readonly LogToRead[] }> {
  const folder = stagingPath(layout, "audit");
  const remove = () => rm(folder, { recursive: true, force: true });
  if (s3 === undefined) return { logs: [], [Symbol.asyncDispose]: remove };
  const bucket = wireBucket(s3);
  try {
    const own = nameReplica(await openAuditKey(layout));
    const logs = await downloadAudit(bucket, own, folder);
    return { logs, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  } finally {
    await bucket.close();
  }
}
