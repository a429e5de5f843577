import type { Configuration, S3Configuration } from "../../config/load.ts";
import type { Clock } from "../../mirror/cache/clock.ts";
import { BucketBlobs } from "../../store/bucket/bucket-blobs.ts";
import {
  type BucketIdentity,
  identifyBucket,
} from "../../store/bucket/bucket-identity.ts";
import { BucketRecords } from "../../store/bucket/bucket-records.ts";
import { BucketWatch } from "../../store/bucket/bucket-watch.ts";
import { Bucket } from "../../store/bucket/bucket.ts";
import { ReplicaClock } from "../../store/bucket/replica-clock.ts";
import type { StoreLayout } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Telemetry } from "../telemetry.ts";

/** This process as one of many on a bucket. */
export interface Replica {
  readonly bucket: Bucket;
  readonly identity: BucketIdentity;
  readonly blobs: BucketBlobs;
  /** URL of the service. */
  readonly url: URL;
  readonly watch: BucketWatch;
  readonly clock: Clock;
  /** Records that are in the bucket alone. */
  readonly uncopied: RecordStore;
  close(): Promise<void>;
}

/** Undefined without a bucket. */
export async function openReplica(
  { storage: { s3 } }: Configuration,
  layout: StoreLayout,
  { logger, alarms }: Pick<Telemetry, "logger" | "alarms">,
): Promise<Replica | undefined> {
  if (s3 === undefined) return undefined;
  const bucket = wireBucket(s3);
  const identity = await identifyBucket(bucket, layout).catch(
    async (error: unknown) => {
      await bucket.close();
      throw error;
    },
  );
  if (s3.endpoint.protocol === "http:")
    logger.warn(
      "storage.s3.endpoint is http: every host on the way can read and change what replicas tell each other",
    );
  const watch = new BucketWatch(bucket, identity.store, {
    onProblem: (problem) => {
      if (problem === undefined) logger.info("the bucket is well again");
      else alarms.raise("bucket-failing", { problem });
    },
  });
  await watch.begin().catch(() => undefined);
  await watch.start();
  return {
    ...{ bucket, identity },
    blobs: new BucketBlobs(bucket),
    url: s3.endpoint,
    clock: new ReplicaClock(bucket.connection),
    watch,
    uncopied: new BucketRecords(bucket, identity.etagForm, () => undefined),
    close: async () => {
      await watch.close();
      await bucket.close();
    },
  };
}

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
