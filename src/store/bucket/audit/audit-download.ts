import { createPublicKey, type KeyObject } from "node:crypto";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { formatVerifierKey } from "../../../telemetry/audit/signed-note.ts";
import type { LogToRead } from "../../../telemetry/audit/verify-log.ts";
import type { Bucket } from "../bucket.ts";
import {
  auditObjects,
  auditSegment,
  parseAuditHead,
  parseAuditSegment,
  type AuditSegment,
} from "../../layout.ts";
import { readAuditHead, type AuditHead } from "./audit-head.ts";
import { largestObject } from "./audit-upload.ts";

/** Writes the logs of all replicas but `own` into `folder`, and says how each is read. Throws what the bucket throws. */
export async function downloadAudit(
  bucket: Bucket,
  own: string,
  folder: string,
): Promise<readonly LogToRead[]> {
  const found = await listSegments(bucket);
  found.delete(own);
  const logs: LogToRead[] = [];
  for (const [replica, segments] of found) {
    const head = await readAuditHead(bucket, replica);
    const names = segments.map(({ log }) => log);
    for (const log of new Set([...Object.keys(head?.logs ?? {}), ...names])) {
      const path = join(folder, replica, `${log}.jsonl`);
      const own = segments.filter((segment) => segment.log === log);
      await writeSegments(bucket, path, own);
      logs.push(describeLog({ path, replica }, head, log));
    }
  }
  return logs;
}

/** By replica, also of those that have none. */
async function listSegments(
  bucket: Bucket,
): Promise<Map<string, AuditSegment[]>> {
  const found = new Map<string, AuditSegment[]>();
  for await (const { key } of bucket.list(auditObjects)) {
    const segment = parseAuditSegment(key);
    const replica = segment?.replica ?? parseAuditHead(key);
    if (replica === undefined) continue;
    const segments = found.get(replica) ?? [];
    found.set(replica, segments);
    if (segment !== undefined) segments.push(segment);
  }
  return found;
}

async function writeSegments(
  bucket: Bucket,
  path: string,
  segments: readonly AuditSegment[],
): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  await using file = await open(path, "w", 0o600);
  for (const segment of segments.toSorted((a, b) => a.seq - b.seq)) {
    const object = await bucket.get(auditSegment(segment));
    if (object === undefined) continue;
    // Of one that no replica would write the lines are missed.
    if (object.size > largestObject) object.body.destroy();
    else await file.writeFile(bucket.connection.readPieces(object.body));
  }
}

const unproven = "is of a replica that no key in the bucket tells of";

function describeLog(
  { path, replica }: { readonly path: string; readonly replica: string },
  head: AuditHead | undefined,
  log: string,
): LogToRead {
  const key =
    head === undefined
      ? Promise.reject<KeyObject>(new Error(unproven))
      : Promise.resolve(createPublicKey(head.key));
  key.catch(() => undefined);
  return {
    path,
    replica,
    unproven: head === undefined ? unproven : undefined,
    // One file from the first line on, of which no older ones have left.
    keep: 1,
    exclusively: (work) => work(),
    checkpoints: {
      key,
      readNote: () => Promise.resolve(head?.logs[log]?.note),
      describeKey: async () => formatVerifierKey(await key),
    },
  };
}
