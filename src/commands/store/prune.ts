import type { Sha256 } from "../../address/hash.ts";
import type { SpecHosts } from "../../address/specs/spec.ts";
import { failure } from "../../errors/index.ts";
import { formatModuleRelease } from "../../mirror/modules/release.ts";
import type { HeldParts } from "../../mirror/upkeep/held.ts";
import type { PrunePlan } from "../../mirror/upkeep/pruning.ts";
import { countBlobs } from "../../store/blobs/listing.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { formatAmount, formatTable } from "../output/table.ts";
import { formatDocument } from "../output/report.ts";
import { findHeld } from "./held.ts";

/**
 * Plans to remove what SPECs name, so that it is fetched again when it is asked for; what was seen first and decided
 * of it stays.
 */
export async function planNamed(
  parts: HeldParts & { readonly records: RecordStore },
  specs: readonly string[],
  hosts: SpecHosts,
): Promise<PrunePlan> {
  const named = new Map<Sha256, PrunePlan["removed"][number]>();
  for (const spec of specs) {
    const held = await findHeld(parts, spec, hosts);
    const [problem] = held.problems;
    if (problem !== undefined) throw problem;
    const archives = [
      ...held.packages.map((one) => ({ ...one, name: one.filename })),
      ...held.modules.map((one) => ({
        ...one,
        name: formatModuleRelease(one),
      })),
    ];
    const stored = archives.flatMap(({ sha256, stored: kept, name }) =>
      kept && sha256
        ? { ...kept, sha256, name, because: "named" as const }
        : [],
    );
    if (stored.length === 0) throw failure("nothing-held", spec);
    for (const one of stored) named.set(one.sha256, one);
  }
  return {
    ...(await countBlobs(parts.blobs.list())),
    recordBytes: await parts.records.measure(),
    ...{ removed: [...named.values()], excess: 0 },
  };
}

interface PruneOptions {
  readonly dryRun: boolean;
  readonly json: boolean;
}

/** `provender prune`: returns the exit status, 1 when more is stored than may be and none of it may leave. */
export async function runPrune(
  makePlan: () => Promise<PrunePlan>,
  remove: (sha256: Sha256) => Promise<unknown>,
  { dryRun, json }: PruneOptions,
  stdout: (text: string) => void,
): Promise<number> {
  const plan = await makePlan();
  if (!dryRun) for (const { sha256 } of plan.removed) await remove(sha256);
  stdout(json ? formatJson(plan, dryRun) : formatText(plan, dryRun));
  return plan.excess > 0 ? 1 : 0;
}

function formatJson(plan: PrunePlan, dryRun: boolean): string {
  const removed = plan.removed.map(({ name = null, usedAt, ...one }) => ({
    ...one,
    name,
    usedAt: new Date(usedAt).toISOString(),
  }));
  return formatDocument({ dryRun, ...plan, freed: freedOf(plan), removed });
}

function formatText(plan: PrunePlan, dryRun: boolean): string {
  const { removed, archives, bytes, excess } = plan;
  const rows = removed.map(({ name, sha256, size, usedAt, because }) => [
    name ?? sha256,
    formatAmount(size),
    new Date(usedAt).toISOString().slice(0, 16),
    because,
  ]);
  const head = ["ARCHIVE", "SIZE", "LAST USED", "BECAUSE"];
  const table = formatTable([head, ...rows]);
  const verb = dryRun ? "would leave" : "left";
  const stay =
    excess > 0
      ? `${formatAmount(excess)} are above "storage.maxSize" and may not leave: they are in use, their origin no longer lists them, or they are what was seen and decided (the database takes ${formatAmount(plan.recordBytes)}).\n`
      : "";
  return `${table}${removed.length} of ${archives} archives ${verb}, ${formatAmount(freedOf(plan))} of ${formatAmount(bytes)}.\n${stay}`;
}

function freedOf({ removed }: PrunePlan): number {
  return removed.reduce((sum, { size }) => sum + size, 0);
}
