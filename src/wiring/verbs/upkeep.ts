import { z } from "zod";
import { runPrune } from "../../commands/store/prune.ts";
import { runVerify } from "../../commands/store/verify.ts";
import { failure } from "../../errors/index.ts";
import { planPrune } from "../../mirror/upkeep/pruning.ts";
import { wireBucketInspection, wireBucketPruning } from "../commands/upkeep.ts";
import { flag, verb } from "./verb.ts";

export const prune = verb(
  { bucket: flag, dryRun: flag, json: flag },
  ({ bucket, dryRun, json }, mirror, { stdout }) => {
    const { configuration } = mirror;
    const { maxSize } = configuration.storage;
    const planLocal = async () => {
      await mirror.nearest?.uses.learn();
      return planPrune(mirror, maxSize, Date.now());
    };
    const { plan, parts } = bucket
      ? wireBucketPruning(mirror, configuration)
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
    const parts = bucket
      ? wireBucketInspection(mirror, mirror.configuration, sample)
      : mirror;
    return runVerify(parts, { repair, json, signal }, makeProgress(), stdout);
  },
);
