import type { Configuration, S3Configuration } from "../../config/load.ts";
import { BucketBlobs } from "../../store/bucket/bucket-blobs.ts";
import { BucketWatch } from "../../store/bucket/bucket-watch.ts";
import { Bucket } from "../../store/bucket/bucket.ts";
import type { Telemetry } from "../telemetry.ts";

/** The archives in a bucket behind the disk, which many daemons may share. */
export interface ArchiveBucket {
  readonly blobs: BucketBlobs;
  /** URL of the service. */
  readonly url: URL;
  readonly watch: BucketWatch;
  close(): Promise<void>;
}

/** Undefined without a bucket. One that does not answer has no archives until it does. */
export function openArchiveBucket(
  { storage: { s3 } }: Configuration,
  { logger, alarms }: Pick<Telemetry, "logger" | "alarms">,
): ArchiveBucket | undefined {
  if (s3 === undefined) return undefined;
  const bucket = wireBucket(s3);
  const watch = new BucketWatch(bucket, (problem) => {
    if (problem === undefined) logger.info("the bucket is well again");
    else alarms.raise("bucket-failing", { problem });
  });
  watch.start();
  return {
    blobs: new BucketBlobs(bucket),
    url: s3.endpoint,
    watch,
    close: async () => {
      await watch.close();
      await bucket.close();
    },
  };
}

/** Milliseconds: an archive comes from its origin where the bucket is slower. */
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
