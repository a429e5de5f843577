import type { Sha256 } from "../../address/hash.ts";
import { planNamed, runPrune } from "../../commands/store/prune.ts";
import { runVerify } from "../../commands/store/verify.ts";
import { planPrune } from "../../mirror/upkeep/pruning.ts";
import { heldPartsOf } from "./held.ts";
import { anyHostOf } from "./hosts.ts";
import { flag, texts, verb } from "./verb.ts";

export const prune = verb(
  { spec: texts, dryRun: flag, json: flag },
  async ({ spec: specs, dryRun, json }, mirror, { stdout }) => {
    const { configuration, replica, blobs, records } = mirror;
    if (specs.length === 0) {
      const { maxSize } = configuration.storage;
      const plan = () => planPrune(mirror, maxSize, Date.now());
      return runPrune(plan, mirror, { dryRun, json }, stdout);
    }
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
  },
);

export const verify = verb(
  { repair: flag, json: flag },
  (asked, mirror, { stdout, signal, makeProgress }) =>
    runVerify(mirror, { ...asked, signal }, makeProgress(), stdout),
);
