import type { Sha256 } from "../../address/hash.ts";
import { printAudit } from "../../commands/audit/read.ts";
import { runList } from "../../commands/store/list.ts";
import { planNamed, runPrune } from "../../commands/store/prune.ts";
import { runVerify } from "../../commands/store/verify.ts";
import { ModuleTrustRecords } from "../../mirror/modules/records.ts";
import { planPrune } from "../../mirror/upkeep/pruning.ts";
import { anyHostOf } from "./hosts.ts";
import { flag, text, texts, verb, type OpenMirror } from "./verb.ts";

/** The records of modules are read without their mirror. */
function heldPartsOf(mirror: OpenMirror) {
  const { records, releases, versions, trust, blobs, clock, judge } = mirror;
  const modules = new ModuleTrustRecords(records);
  return { records, releases, versions, trust, blobs, clock, judge, modules };
}

export const list = verb(
  { spec: text, json: flag },
  ({ spec, json }, mirror, io) => {
    const hosts = anyHostOf(mirror.configuration);
    return runList(heldPartsOf(mirror), { spec, hosts, json }, io);
  },
);

export const prune = verb(
  { spec: texts, dryRun: flag, json: flag },
  async ({ spec: specs, dryRun, json }, mirror, { stdout }) => {
    const { configuration, bucket, blobs } = mirror;
    if (specs.length === 0) {
      const { maxSize } = configuration.storage;
      const plan = () => planPrune(mirror, maxSize, Date.now());
      const remove = (sha256: Sha256) => blobs.delete(sha256);
      return runPrune(plan, remove, { dryRun, json }, stdout);
    }
    // What is removed on the disk alone would come back from the bucket.
    const everywhere = async (sha256: Sha256) => {
      await bucket?.blobs.delete(sha256);
      await blobs.delete(sha256);
    };
    const held = heldPartsOf(mirror);
    const hosts = anyHostOf(configuration);
    const plan = () => planNamed(held, specs, hosts);
    return runPrune(plan, everywhere, { dryRun, json }, stdout);
  },
);

export const verify = verb(
  { repair: flag, json: flag },
  (asked, mirror, { stdout, signal, makeProgress }) =>
    runVerify(mirror, { ...asked, signal }, makeProgress(), stdout),
);

const question = {
  ...{ spec: text, since: text, until: text },
  ...{ asker: text, verdict: text, event: text },
};

export const audit = verb(
  { ...question, json: flag },
  async ({ json, ...question }, { layout, configuration }, { print }) => {
    const { decisions, requests } = layout.audit;
    const options = { json, now: new Date(), hosts: anyHostOf(configuration) };
    await printAudit([decisions, requests], question, options, print);
    return 0;
  },
);
