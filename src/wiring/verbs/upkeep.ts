import { runPrune } from "../../commands/store/prune.ts";
import { runVerify } from "../../commands/store/verify.ts";
import { failure } from "../../errors/index.ts";
import { planPrune } from "../../mirror/upkeep/pruning.ts";
import { wireBucketInspection, wireBucketPruning } from "../commands/upkeep.ts";
import type { Verb } from "./verb.ts";

interface PruneInput {
  readonly bucket?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export const prune: Verb<PruneInput> = (
  { bucket = false, dryRun = false, json = false },
  mirror,
  { stdout },
) => {
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
};

interface VerifyInput {
  readonly bucket?: boolean | undefined;
  readonly sample?: number | undefined;
  readonly repair?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export const verify: Verb<VerifyInput> = async (
  { bucket = false, sample, repair = false, json = false },
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
};
