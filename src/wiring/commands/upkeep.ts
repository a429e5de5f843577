import type { Configuration } from "../../config/load.ts";
import { failure } from "../../errors/index.ts";
import { planBucketPrune } from "../../mirror/upkeep/bucket-pruning.ts";
import { BucketRecords } from "../../store/bucket/bucket-records.ts";
import { RecordMemory } from "../../store/bucket/record-memory.ts";
import { InspectedArchives } from "../../store/bucket/upkeep/inspected-archives.ts";
import { readSharedUses } from "../../store/bucket/upkeep/shared-uses.ts";
import { layOutStore } from "../../store/layout.ts";
import type { Kept } from "../kept.ts";

/** Sets up `prune` for the bucket. Throws a configuration error. */
export function wireBucketPruning(core: Kept, configuration: Configuration) {
  const { records, releases, replica } = wireShared(core, configuration);
  const { bucket, blobs } = replica;
  const readUses = () => readSharedUses(bucket, timeOf());
  const timeOf = () => Date.now() + bucket.connection.skew;
  return {
    parts: { blobs, records },
    plan: () =>
      planBucketPrune({ blobs, records, releases, readUses }, timeOf()),
  };
}

/**
 * Sets up `verify` for the bucket; `sample` is the number of archives to hash.
 * Throws a configuration error.
 */
export function wireBucketInspection(
  core: Kept,
  configuration: Configuration,
  sample: number | undefined,
) {
  const { records, releases, replica } = wireShared(core, configuration);
  return {
    blobs: new InspectedArchives(replica.blobs, sample),
    records,
    releases,
  };
}

/** The records of the bucket, compared with what this replica saw of them; nothing is remembered of it. */
function wireShared({ replica, releasesIn }: Kept, { storage }: Configuration) {
  if (replica === undefined)
    throw failure(
      "configuration",
      "--bucket",
      "it looks after a bucket, and there is none",
      `set "storage.s3"`,
    );
  const { bucket, identity } = replica;
  const memory = new RecordMemory(layOutStore(storage.directory));
  const records = new BucketRecords(
    bucket,
    identity.etagForm,
    () => undefined,
    {
      recall: (key) => memory.recall(key),
      remember: () => Promise.resolve(),
    },
  );
  return { records, releases: releasesIn(records), replica };
}
