import { hostname } from "node:os";
import type { Configuration, S3Configuration } from "../../config/load.ts";
import type { BucketLimits } from "../../store/bucket/bucket-settings.ts";
import { Bucket } from "../../store/bucket/bucket.ts";
import {
  checkBucket,
  expectProof,
} from "../../store/bucket/bucket-identity.ts";
import { SoleWriterBucket } from "../../store/bucket/writer/sole-writer-bucket.ts";
import { WriterLease } from "../../store/bucket/writer/writer-lease.ts";
import { layOutStore, type StoreLayout } from "../../store/layout.ts";
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

/** A line on the bucket, of which this proves anew what replicas rely on; empty where there is none. Throws what is wrong with it. */
export async function describeBucket({
  storage: { s3, directory },
}: Configuration): Promise<string> {
  if (s3 === undefined) return "";
  const bucket = wireBucket(s3);
  try {
    const found = await checkBucket(bucket, layOutStore(directory));
    if (s3.writers === "many") await expectProof(bucket);
    const use = s3.writers === "many" ? "for replicas" : "for one writer";
    const store = found ? `has the store ${found.store}` : "is empty";
    return `${s3.endpoint.href}${s3.bucket}: good ${use}, ${store}\n`;
  } finally {
    await bucket.close();
  }
}
