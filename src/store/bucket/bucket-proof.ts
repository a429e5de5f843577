import { failure } from "../../errors/index.ts";
import type { Bucket, Condition } from "./bucket.ts";

/**
 * Form of an ETag in `If-Match`: as the service gave it, or without its quotes
 * (Ceph).
 */
export type EtagForm = "quoted" | "unquoted";

/** Folder of the objects that proofs write and delete. */
export const proofFolder = "proof/";

/** Writes twice under each condition that replicas rely on: the second write has to be refused. */
export async function proveBucket(bucket: Bucket): Promise<EtagForm> {
  const key = `${proofFolder}${crypto.randomUUID()}`;
  const absent = { kind: "absent" } as const;
  try {
    if (!(await wins(bucket, key, absent)))
      throw failure(
        "bucket-unproven",
        bucket.name,
        "an object that is new is refused with If-None-Match",
      );
    if (await wins(bucket, key, absent))
      throw failure(
        "bucket-unproven",
        bucket.name,
        "If-None-Match is ignored: an object was created twice",
      );
    return await findEtagForm(bucket, key);
  } finally {
    await bucket.delete(key);
  }
}

/** The condition that an object is still the one with `etag`. */
export function unchanged(etag: string, form: EtagForm): Condition {
  return {
    kind: "unchanged",
    etag: form === "quoted" ? etag : etag.replace(/^"(.*)"$/, "$1"),
  };
}

async function findEtagForm(bucket: Bucket, key: string): Promise<EtagForm> {
  for (const form of ["quoted", "unquoted"] as const) {
    const etag = await bucket.put(key, crypto.randomUUID());
    const condition = unchanged(etag, form);
    if (!(await wins(bucket, key, condition))) continue;
    if (!(await wins(bucket, key, condition))) return form;
    throw failure(
      "bucket-unproven",
      bucket.name,
      "If-Match is ignored: a stale ETag was taken",
    );
  }
  throw failure(
    "bucket-unproven",
    bucket.name,
    "If-Match with the current ETag is refused",
  );
}

/** Returns true when a write is accepted under a condition. */
async function wins(
  bucket: Bucket,
  key: string,
  condition: Condition,
): Promise<boolean> {
  const outcome = await bucket.putIf(key, crypto.randomUUID(), condition);
  if (outcome.kind === "unknown") throw outcome.failure;
  return outcome.kind === "written";
}
