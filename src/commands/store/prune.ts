import type { Sha256 } from "../../address/hash.ts";
import { failure } from "../../errors/index.ts";
import { formatModuleRelease } from "../../mirror/modules/release.ts";
import { listHeld } from "../../mirror/upkeep/held.ts";
import { planPrune, type PrunePlan } from "../../mirror/upkeep/pruning.ts";
import type { OpenMirror } from "../../wiring/open-mirror.ts";
import { type Flags, onStore } from "../command.ts";
import { formatDocument, stdout } from "../output/report.ts";
import { formatAmount, formatMinute, formatTable } from "../output/table.ts";
import { askFor } from "./list.ts";

/** `provender prune [SPEC…]`: returns 1 when more is stored than may be and none of it may leave. */
export function prune({
  spec: specs,
  dryRun = false,
  json = false,
  ...flags
}: Flags & {
  readonly spec: readonly string[];
  readonly dryRun?: boolean;
}): Promise<number> {
  return onStore(flags, async (mirror) => {
    const { blobs, bucket, configuration } = mirror;
    const isNamed = specs.length > 0;
    const plan = await (isNamed
      ? planNamed(mirror, specs)
      : planPrune(mirror, configuration.storage.maxSize, Date.now()));
    for (const { sha256 } of dryRun ? [] : plan.removed) {
      // What is named and removed on the disk alone would come back from the bucket.
      if (isNamed) await bucket?.delete(sha256);
      await blobs.delete(sha256);
    }
    const freed = plan.removed.reduce((sum, { size }) => sum + size, 0);
    const removed = plan.removed.map(({ name = null, usedAt, ...one }) => ({
      ...{ ...one, name, usedAt: new Date(usedAt).toISOString() },
    }));
    const document = { dryRun, ...plan, freed, removed };
    stdout(json ? formatDocument(document) : formatText(plan, freed, dryRun));
    return plan.excess > 0 ? 1 : 0;
  });
}

/**
 * Plans to remove what SPECs name, so that it is fetched again when it is asked for; what was seen first and decided
 * of it stays.
 */
async function planNamed(
  mirror: OpenMirror,
  specs: readonly string[],
): Promise<PrunePlan> {
  const named = new Map<Sha256, PrunePlan["removed"][number]>();
  for (const spec of specs) {
    const question = askFor(mirror, spec);
    const { packages, modules, problems } = await listHeld(mirror, question);
    const [problem] = problems;
    if (problem !== undefined) throw problem;
    const stored = [
      ...packages.map((one) => ({ ...one, name: one.filename })),
      ...modules.map((one) => ({ ...one, name: formatModuleRelease(one) })),
    ].flatMap(({ sha256, stored: kept, name }) =>
      kept && sha256
        ? { ...kept, sha256, name, because: "named" as const }
        : [],
    );
    if (stored.length === 0) throw failure("nothing-held", spec);
    for (const one of stored) named.set(one.sha256, one);
  }
  return {
    ...(await mirror.blobs.count()),
    recordBytes: await mirror.records.measure(),
    ...{ removed: [...named.values()], excess: 0 },
  };
}

function formatText(plan: PrunePlan, freed: number, dryRun: boolean): string {
  const { removed, archives, bytes, excess } = plan;
  const rows = removed.map(({ name, sha256, size, usedAt, because }) => [
    name ?? sha256,
    formatAmount(size),
    formatMinute(usedAt),
    because,
  ]);
  const head = ["ARCHIVE", "SIZE", "LAST USED", "BECAUSE"];
  const table = formatTable([head, ...rows]);
  const verb = dryRun ? "would leave" : "left";
  const stay =
    excess > 0
      ? `${formatAmount(excess)} are above "storage.maxSize" and may not leave: they are in use, their origin no longer lists them, or they are what was seen and decided (the database takes ${formatAmount(plan.recordBytes)}).\n`
      : "";
  return `${table}${removed.length} of ${archives} archives ${verb}, ${formatAmount(freed)} of ${formatAmount(bytes)}.\n${stay}`;
}
