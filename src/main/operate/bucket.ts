import type { Configuration } from "../../config/load.ts";
import { checkBucket } from "../../store/bucket/bucket-identity.ts";
import { proveBucket } from "../../store/bucket/bucket-proof.ts";
import { layOutStore } from "../../store/layout.ts";
import { wireBucket } from "../../wiring/store/replica.ts";

/**
 * Returns a line on the bucket, after it proves the properties that replicas
 * need; empty without a bucket. Throws the bucket's problem.
 */
export async function describeBucket({
  storage: { s3, directory },
}: Configuration): Promise<string> {
  if (s3 === undefined) return "";
  const bucket = wireBucket(s3);
  try {
    const found = await checkBucket(bucket, layOutStore(directory));
    await proveBucket(bucket);
    const store = found ? `has the store ${found.store}` : "is empty";
    return `${s3.endpoint.href}${s3.bucket}: good for replicas, ${store}\n`;
  } finally {
    await bucket.close();
  }
}
