import type { Sha256 } from "../../address/hash.ts";
import { printAudit } from "../../commands/audit/read.ts";
import { runList } from "../../commands/store/list.ts";
import { planNamed, runPrune } from "../../commands/store/prune.ts";
import { runVerify } from "../../commands/store/verify.ts";
import { ModuleTrustRecords } from "../../mirror/modules/records.ts";
import { planPrune } from "../../mirror/upkeep/pruning.ts";
import { anyHostOf } from "./hosts.ts";
import type { JsonFlag, OpenMirror, VerbIo } from "./verb.ts";

/** The records of modules are read without their mirror. */
function heldPartsOf(mirror: OpenMirror) {
  const { records, releases, versions, trust, blobs, clock, judge } = mirror;
  const modules = new ModuleTrustRecords(records);
  return { records, releases, versions, trust, blobs, clock, judge, modules };
}

export function list(
  { spec, json = false }: JsonFlag & { readonly spec?: string },
  mirror: OpenMirror,
  io: VerbIo,
): Promise<number> {
  const hosts = anyHostOf(mirror.configuration);
  return runList(heldPartsOf(mirror), { spec, hosts, json }, io);
}

export function prune(
  {
    spec: specs,
    dryRun = false,
    json = false,
  }: JsonFlag & {
    readonly spec: readonly string[];
    readonly dryRun?: boolean;
  },
  mirror: OpenMirror,
  { stdout }: VerbIo,
): Promise<number> {
  const { configuration, bucket, blobs } = mirror;
  if (specs.length === 0) {
    const { maxSize } = configuration.storage;
    const plan = () => planPrune(mirror, maxSize, Date.now());
    const remove = (sha256: Sha256) => blobs.delete(sha256);
    return runPrune(plan, remove, { dryRun, json }, stdout);
  }
  // What is removed on the disk alone would come back from the bucket.
  const everywhere = async (sha256: Sha256) => {
    await bucket?.delete(sha256);
    await blobs.delete(sha256);
  };
  const held = heldPartsOf(mirror);
  const hosts = anyHostOf(configuration);
  const plan = () => planNamed(held, specs, hosts);
  return runPrune(plan, everywhere, { dryRun, json }, stdout);
}

export function verify(
  { repair = false, json = false }: JsonFlag & { readonly repair?: boolean },
  mirror: OpenMirror,
  { stdout, signal, makeProgress }: VerbIo,
): Promise<number> {
  return runVerify(mirror, { repair, json, signal }, makeProgress(), stdout);
}

export async function audit(
  { json = false, ...question }: JsonFlag & Parameters<typeof printAudit>[1],
  { telemetry, configuration }: OpenMirror,
  { print }: VerbIo,
): Promise<number> {
  const options = { json, now: new Date(), hosts: anyHostOf(configuration) };
  await printAudit(telemetry.audit, question, options, print);
  return 0;
}
