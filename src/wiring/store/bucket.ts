import { hostname } from "node:os";
import type { S3Configuration } from "../../config/load.ts";
import type { BucketLimits } from "../../store/bucket/bucket-settings.ts";
import { Bucket } from "../../store/bucket/bucket.ts";
import { SoleWriterBucket } from "../../store/bucket/writer/sole-writer-bucket.ts";
import { WriterLease } from "../../store/bucket/writer/writer-lease.ts";
import type { StoreLayout } from "../../store/layout.ts";
import { ChangeLocks } from "../../store/records/change-locks.ts";
import { readReplicaId } from "../../store/replica-id.ts";

/** Milliseconds: metadata of clients waits for the bucket, and they give it 10 s. */
const limits = { connect: 1_000, firstByte: 2_000, idle: 8_000 };

/** A bucket that this process may write to, as one of many or as the only one. */
export interface OpenBucket {
  /** Of this storage directory. */
  readonly id: string;
  readonly bucket: Bucket;
  /** Resolves when it may. Throws BucketHasWriter, and what the bucket throws. */
  readonly take: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function openBucket(
  s3: S3Configuration,
  layout: StoreLayout,
): Promise<OpenBucket> {
  const isAlone = s3.writers === "one";
  const bucket = isAlone
    ? new SoleWriterBucket(settingsOf(s3), limits, new ChangeLocks(layout))
    : wireBucket(s3);
  const id = await readReplicaId(layout);
  const name = `${hostname()}:${layout.directory}`;
  const lease = new WriterLease(bucket, { id, name });
  return {
    ...{ id, bucket },
    take: () => (isAlone ? lease.take() : lease.expectNone()),
    close: async () => {
      if (isAlone) await lease.release();
      await bucket.close();
    },
  };
}

export function wireBucket(
  s3: S3Configuration,
  within: BucketLimits = limits,
): Bucket {
  return new Bucket(settingsOf(s3), within);
}

function settingsOf({ addressing, keys, ...place }: S3Configuration) {
  return {
    ...place,
    pathStyle: addressing === "path",
    keys: keys && {
      accessKeyId: keys.accessKeyId,
      secretAccessKey: keys.secretAccessKey.secret,
    },
  };
}
