import {
  carryOutPrune,
  type LeavingParts,
  type PrunePlan,
} from "../../mirror/upkeep/pruning.ts";
import { formatAmount } from "../output/figures.ts";
import { formatDocument } from "../output/json-document.ts";
import { formatTable } from "../output/table.ts";

interface PruneOptions {
  readonly dryRun: boolean;
  readonly json: boolean;
}

/** `provender prune`: returns the exit status, 1 when more is stored than may be and none of it may leave. */
export async function runPrune(
  makePlan: () => Promise<PrunePlan>,
  parts: LeavingParts,
  { dryRun, json }: PruneOptions,
  stdout: (text: string) => void,
): Promise<number> {
  const plan = await makePlan();
  if (!dryRun) await carryOutPrune(parts, plan);
  stdout(json ? formatJson(plan, dryRun) : formatText(plan, dryRun));
  return plan.excess > 0 ? 1 : 0;
}

function formatJson(plan: PrunePlan, dryRun: boolean): string {
  const removed = plan.removed.map(({ name = null, usedAt, ...one }) => ({
    ...one,
    name,
    usedAt: new Date(usedAt).toISOString(),
  }));
  const removedRecords = plan.removedRecords.length;
  const freed = freedOf(plan);
  const document = { dryRun, ...plan, freed, removed, removedRecords };
  return formatDocument(document);
}

function formatText(plan: PrunePlan, dryRun: boolean): string {
  const { removed, removedRecords, archives, bytes, excess } = plan;
  const rows = removed.map(({ name, sha256, size, usedAt, because }) => [
    name ?? sha256,
    formatAmount(size),
    new Date(usedAt).toISOString().slice(0, 16),
    because,
  ]);
  const head = ["ARCHIVE", "SIZE", "LAST USED", "BECAUSE"];
  const table = formatTable([head, ...rows]);
  const verb = dryRun ? "would leave" : "left";
  const unnamed =
    removedRecords.length > 0
      ? `${removedRecords.length} records of archives that nothing names ${verb}.\n`
      : "";
  const stay =
    excess > 0
      ? `${formatAmount(excess)} are above "storage.maxSize" and may not leave: they are in use, their origin no longer lists them, or they are records of what was seen and decided (all records take ${formatAmount(plan.recordBytes)}).\n`
      : "";
  return `${table}${removed.length} of ${archives} archives ${verb}, ${formatAmount(freedOf(plan))} of ${formatAmount(bytes)}.\n${unnamed}${stay}`;
}

function freedOf({ removed }: PrunePlan): number {
  return removed.reduce((sum, { size }) => sum + size, 0);
}
