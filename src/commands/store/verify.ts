import {
  inspectStore,
  type Inspection,
} from "../../mirror/upkeep/store-inspection.ts";
import { type Flags, onStore } from "../command.ts";
import { showProgress } from "../output/progress.ts";
import { formatDocument, stdout } from "../output/report.ts";
import { formatAmount, formatTable } from "../output/table.ts";

/** `provender verify`: returns 1 when something bad was found and is still there; each is named. */
export function verify({
  repair = false,
  json = false,
  ...flags
}: Flags & { readonly repair?: boolean }): Promise<number> {
  return onStore(flags, async (mirror, signal) => {
    const progress = showProgress(json);
    const hashed = { size: 0, received: 0 };
    progress.expect(1);
    progress.begin("archives", hashed);
    const inspecting = inspectStore(mirror, {
      repair,
      signal,
      onSize: (bytes) => (hashed.size = bytes),
      onHashed: (bytes) => (hashed.received += bytes),
    });
    const found = await inspecting.finally(() => progress.close());
    progress.end("archives", "hashed");
    stdout(json ? formatDocument(found) : formatText(found, repair));
    return found.findings.every(({ dropped }) => dropped) ? 0 : 1;
  });
}

function formatText(
  { archives, bytes, records, findings, orphans }: Inspection,
  repair: boolean,
): string {
  const bad = findings.map(({ kind, name, problem, dropped }) => [
    kind,
    name,
    dropped ? "dropped" : "bad",
    problem,
  ]);
  const unnamed = orphans.map(({ sha256, size }) => [
    "archive",
    sha256,
    "orphan",
    `good, ${formatAmount(size)}, and no record names it`,
  ]);
  const head = ["KIND", "NAME", "STATE", "BECAUSE"];
  const table = formatTable([head, ...bad, ...unnamed]);
  const left = findings.filter(({ dropped }) => !dropped).length;
  const advice =
    left > 0 && !repair
      ? ' Run "provender verify --repair" to drop what can be fetched again.'
      : "";
  return `${table}${archives} archives (${formatAmount(bytes)}) and ${records} records: ${findings.length} bad, ${findings.length - left} of them dropped, ${orphans.length} orphans.${advice}\n`;
}
