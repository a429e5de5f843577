import type { Configuration, S3Configuration } from "../../config/load.ts";
import { Bucket } from "../../store/bucket/bucket.ts";
import {
  checkBucket,
  expectProof,
} from "../../store/bucket/bucket-identity.ts";
import { layOutStore } from "../../store/layout.ts";

/** Milliseconds: metadata of clients waits for the bucket, and they give it 10 s. */
const limits = { connect: 1_000, firstByte: 2_000, idle: 8_000 };

export function wireBucket(s3: S3Configuration): Bucket {
  const { addressing, keys, ...place } = s3;
  return new Bucket(
    {
      ...place,
      pathStyle: addressing === "path",
      keys: keys && {
        accessKeyId: keys.accessKeyId,
        secretAccessKey: keys.secretAccessKey.secret,
      },
    },
    limits,
  );
}

/** A line on the bucket, of which this proves anew what replicas rely on; empty where there is none. Throws what is wrong with it. */
export async function describeBucket({
  storage: { s3, directory },
}: Configuration): Promise<string> {
  if (s3 === undefined) return "";
  const bucket = wireBucket(s3);
  try {
    const found = await checkBucket(bucket, layOutStore(directory));
    await expectProof(bucket);
    const store = found ? `has the store ${found.store}` : "is empty";
    return `${s3.endpoint.href}${s3.bucket}: good for replicas, ${store}\n`;
  } finally {
    await bucket.close();
  }
}
