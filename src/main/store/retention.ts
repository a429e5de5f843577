import { runPrune } from "../../commands/store/prune.ts";
import { makeProgress } from "../../commands/output/progress.ts";
import { runVerify } from "../../commands/store/verify.ts";
import { loadConfiguration } from "../../config/load.ts";
import { failure } from "../../errors/index.ts";
import { planPrune } from "../../mirror/upkeep/pruning.ts";
import { wireStored } from "../../wiring/commands/store.ts";
import {
  wireBucketInspection,
  wireBucketPruning,
} from "../../wiring/commands/upkeep.ts";
import type { Flags } from "../flags.ts";
import { unlessStopped, untilStopped } from "../options.ts";
import { output } from "../output.ts";

export interface PruneFlags extends Flags {
  readonly bucket?: boolean;
  readonly dryRun?: boolean;
}

export interface VerifyFlags extends Flags {
  readonly bucket?: boolean;
  readonly sample?: number;
  readonly repair?: boolean;
}

const { stdout } = output;

export async function prune(flags: PruneFlags): Promise<void> {
  const { dryRun = false, json = false } = flags;
  const configuration = loadConfiguration({ file: flags.config });
  const { maxSize } = configuration.storage;
  await using core = await wireStored(configuration);
  const planLocal = async () => {
    await core.nearest?.uses.learn();
    return planPrune(core, maxSize, Date.now());
  };
  const { plan, parts } = flags.bucket
    ? wireBucketPruning(core, configuration)
    : { parts: core, plan: planLocal };
  const options = { dryRun, json };
  process.exitCode = await runPrune(plan, parts, options, stdout);
}

export async function verify(flags: VerifyFlags): Promise<void> {
  const { repair = false, json = false } = flags;
  const configuration = loadConfiguration({ file: flags.config });
  const { bucket = false, sample } = flags;
  if (sample !== undefined && !bucket)
    throw failure(
      "configuration",
      "--sample",
      "it is for --bucket only",
      "leave it out",
    );
  await using core = await wireStored(configuration);
  const signal = untilStopped();
  const progress = makeProgress(process.stderr, () => performance.now());
  const options = { repair, json, signal };
  const parts = bucket
    ? wireBucketInspection(core, configuration, sample)
    : core;
  await unlessStopped(signal, () =>
    runVerify(parts, options, progress, stdout),
  );
}
