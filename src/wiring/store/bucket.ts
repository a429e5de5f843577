import type { S3Configuration } from "../../config/load.ts";
import { Bucket } from "../../store/bucket/bucket.ts";

/** Milliseconds: metadata of clients waits for the bucket, and they give it 10 s. */
const limits = { connect: 1_000, firstByte: 2_000, idle: 8_000 };

export function wireBucket({
  addressing,
  accessKeyId,
  secretAccessKey,
  ...place
}: S3Configuration): Bucket {
  const isGiven = accessKeyId !== undefined && secretAccessKey !== undefined;
  const settings = {
    ...place,
    pathStyle: addressing === "path",
    keys: isGiven
      ? { accessKeyId, secretAccessKey: secretAccessKey.secret }
      : undefined,
  };
  return new Bucket(settings, limits);
}
