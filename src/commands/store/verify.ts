import {
  inspectStore,
  type Inspection,
  type InspectionParts,
} from "../../mirror/upkeep/store-inspection.ts";
import { formatAmount, formatTable } from "../output/table.ts";
import { formatDocument } from "../output/report.ts";
import type { Progress } from "../output/progress.ts";

interface VerifyOptions {
  readonly repair: boolean;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/** `provender verify`: returns the exit status, 1 when something bad was found and is still there; each is named. */
export async function runVerify(
  parts: InspectionParts,
  { repair, json, signal }: VerifyOptions,
  progress: Progress,
  stdout: (text: string) => void,
): Promise<number> {
  const item = { label: "archives", size: 0, received: 0 };
  progress.expect(1);
  progress.begin(item);
  try {
    const found = await inspectStore(parts, {
      repair,
      signal,
      onSize: (bytes) => (item.size = bytes),
      onHashed: (bytes) => (item.received += bytes),
    });
    progress.end(item, "hashed");
    progress.close();
    stdout(json ? formatDocument(found) : formatText(found, repair));
    return found.findings.every(({ dropped }) => dropped) ? 0 : 1;
  } finally {
    progress.close();
  }
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
  const rows = [...bad, ...unnamed];
  const head = ["KIND", "NAME", "STATE", "BECAUSE"];
  const table = formatTable([head, ...rows]);
  const left = findings.filter(({ dropped }) => !dropped).length;
  const advice =
    left > 0 && !repair
      ? ' Run "provender verify --repair" to drop what can be fetched again.'
      : "";
  return `${table}${archives} archives (${formatAmount(bytes)}) and ${records} records: ${findings.length} bad, ${findings.length - left} of them dropped, ${orphans.length} orphans.${advice}\n`;
}
