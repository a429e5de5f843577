import type { Configuration, S3Configuration } from "../config/load.ts";
import { Bucket } from "../store/bucket/bucket.ts";
import type { Telemetry } from "./telemetry.ts";

/** Opens the bucket behind the disk, which many daemons may share; undefined without one. One that does not answer has no archives until it does. */
export function openArchiveBucket(
  { storage: { s3 } }: Configuration,
  { logger, alarms }: Pick<Telemetry, "logger" | "alarms">,
): Bucket | undefined {
  if (s3 === undefined) return undefined;
  const bucket = wireBucket(s3, (problem) => {
    if (problem === undefined) logger.info("the bucket is well again");
    else alarms.raise("bucket-failing", { problem });
  });
  void bucket.look();
  return bucket;
}

/** Milliseconds: an archive comes from its origin where the bucket is slower. */
const limits = { connect: 1_000, firstByte: 2_000, idle: 8_000 };

export function wireBucket(
  { addressing, accessKeyId, secretAccessKey, ...place }: S3Configuration,
  onProblem?: (problem: string | undefined) => void,
): Bucket {
  const isGiven = accessKeyId !== undefined && secretAccessKey !== undefined;
  const settings = {
    ...place,
    pathStyle: addressing === "path",
    keys: isGiven
      ? { accessKeyId, secretAccessKey: secretAccessKey.secret }
      : undefined,
  };
  return new Bucket(settings, limits, onProblem);
}
