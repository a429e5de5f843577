import { createPublicKey, type KeyObject } from "node:crypto";
import { z } from "zod";
import { signerName } from "../../../telemetry/audit/signed-note.ts";
import { bodyOf } from "../bucket-connection.ts";
import type { Bucket } from "../bucket.ts";
import { auditHead } from "../../layout.ts";

/** Bytes: far more than a replica ever writes. */
const largest = 1024 * 1024;

const shape = z.object({
  /** PEM of the public key that signs for the logs. */
  key: z.string(),
  /** By the name of the log, which becomes a file's: whoever writes to the bucket may have chosen it. */
  logs: z.record(
    z.string().regex(/^[a-z]+$/),
    z.object({
      /** Lines of the chain that are in the bucket. */
      lines: z.int().nonnegative(),
      /** The newest checkpoint of these. */
      note: z.string().optional(),
    }),
  ),
});

/** How much of a replica's audit logs is in the bucket. */
export type AuditHead = z.infer<typeof shape>;

/** The name of a replica comes from its key, so that nobody signs for another one. */
export function nameReplica(key: KeyObject): string {
  return signerName(key).replace("provender/", "");
}

/** Undefined when there is none that the replica could have written. */
export async function readAuditHead(
  bucket: Bucket,
  replica: string,
): Promise<AuditHead | undefined> {
  const found = await bucket.get(auditHead(replica));
  if (found === undefined) return undefined;
  if (found.size > largest) {
    found.body.destroy();
    return undefined;
  }
  const text = await bucket.readText(found);
  try {
    const head = shape.parse(JSON.parse(text));
    const isOwn = nameReplica(createPublicKey(head.key)) === replica;
    return isOwn ? head : undefined;
  } catch {
    return undefined;
  }
}

export async function writeAuditHead(
  bucket: Bucket,
  replica: string,
  head: AuditHead,
): Promise<void> {
  await bucket.put(auditHead(replica), bodyOf(JSON.stringify(head)));
}
