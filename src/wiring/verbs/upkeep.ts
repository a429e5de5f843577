import { z } from "zod";
import type { Sha256 } from "../../address/hash.ts";
import { planNamed, runPrune } from "../../commands/store/prune.ts";
import { runVerify } from "../../commands/store/verify.ts";
import { failure } from "../../errors/index.ts";
import { planPrune } from "../../mirror/upkeep/pruning.ts";
import { planBucketPrune } from "../../mirror/upkeep/bucket-pruning.ts";
import { BucketRecords } from "../../store/bucket/bucket-records.ts";
import { RecordMemory } from "../../store/bucket/record-memory.ts";
import { InspectedArchives } from "../../store/bucket/upkeep/inspected-archives.ts";
import { readSharedUses } from "../../store/bucket/upkeep/shared-uses.ts";
import { heldPartsOf } from "./held.ts";
import { anyHostOf } from "./hosts.ts";
import { flag, texts, verb, type OpenMirror } from "./verb.ts";

export const prune = verb(
  { spec: texts, bucket: flag, dryRun: flag, json: flag },
  async ({ spec: specs, bucket, dryRun, json }, mirror, { stdout }) => {
    const { configuration } = mirror;
    if (specs.length > 0 && bucket)
      throw failure(
        "configuration",
        "--bucket",
        "what is named leaves the bucket, too",
        "leave it out",
      );
    if (specs.length > 0) {
      const { replica, blobs, records } = mirror;
      // What is removed on the disk alone would come back from the bucket.
      const everywhere = async (sha256: Sha256) => {
        await replica?.blobs.delete(sha256);
        await blobs.delete(sha256);
      };
      const held = heldPartsOf(mirror);
      const hosts = anyHostOf(configuration);
      const parts = { blobs: { delete: everywhere }, records };
      const plan = () => planNamed(held, specs, hosts);
      return runPrune(plan, parts, { dryRun, json }, stdout);
    }
    const { maxSize } = configuration.storage;
    const planLocal = async () => {
      await mirror.nearest?.uses.learn();
      return planPrune(mirror, maxSize, Date.now());
    };
    const { plan, parts } = bucket
      ? wireBucketPruning(mirror)
      : { parts: mirror, plan: planLocal };
    return runPrune(plan, parts, { dryRun, json }, stdout);
  },
);

const inspection = { bucket: flag, sample: z.int().positive().optional() };

export const verify = verb(
  { ...inspection, repair: flag, json: flag },
  async (
    { bucket, sample, repair, json },
    mirror,
    { stdout, signal, makeProgress },
  ) => {
    if (sample !== undefined && !bucket)
      throw failure(
        "configuration",
        "--sample",
        "it is for --bucket only",
        "leave it out",
      );
    const parts = bucket ? wireBucketInspection(mirror, sample) : mirror;
    return runVerify(parts, { repair, json, signal }, makeProgress(), stdout);
  },
);

/** Sets up `prune` for the bucket. */
function wireBucketPruning(mirror: OpenMirror) {
  const { records, releases, replica } = wireShared(mirror);
  const { bucket, blobs } = replica;
  const readUses = () => readSharedUses(bucket, timeOf());
  const timeOf = () => Date.now() + bucket.connection.skew;
  return {
    parts: { blobs, records },
    plan: () =>
      planBucketPrune({ blobs, records, releases, readUses }, timeOf()),
  };
}

/** Sets up `verify` for the bucket; `sample` is the number of archives to hash. */
function wireBucketInspection(mirror: OpenMirror, sample: number | undefined) {
  const { records, releases, replica } = wireShared(mirror);
  return {
    blobs: new InspectedArchives(replica.blobs, sample),
    records,
    releases,
  };
}

/** The records of the bucket, compared with what this replica saw of them; nothing is remembered of it. */
function wireShared({ replica, releasesIn, layout }: OpenMirror) {
  if (replica === undefined)
    throw failure(
      "configuration",
      "--bucket",
      "it looks after a bucket, and no bucket is configured",
      `set "storage.s3"`,
    );
  const { bucket, identity } = replica;
  const memory = new RecordMemory(layout);
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
