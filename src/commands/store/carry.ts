import type {
  CarryOptions,
  CarryReport,
} from "../../store/bucket/carrying/carry.ts";
import { formatAmount } from "../output/figures.ts";
import { formatDocument } from "../output/json-document.ts";
import type { Progress } from "../output/progress.ts";
import { formatTable } from "../output/table.ts";

interface CarryCommand {
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/** `provender store push`: returns the exit status, 1 when something is not the same on both sides; each is named. */
export async function runCarry(
  carry: (options: CarryOptions) => Promise<CarryReport>,
  { json, signal }: CarryCommand,
  progress: Progress,
  stdout: (text: string) => void,
): Promise<number> {
  try {
    const report = await carry({
      signal,
      onListed: (total) => progress.expect(total),
      onBegun: ({ kind, name, size }) => {
        const item = { label: name, size, received: 0 };
        // Records are many and small.
        if (kind === "archive") progress.begin(item);
        return (outcome) => {
          if (outcome === "written") item.received = size;
          progress.end(item, outcome);
        };
      },
    });
    progress.close();
    stdout(json ? formatDocument(report) : formatText(report));
    const { differences, problems } = report;
    return differences.length + problems.length > 0 ? 1 : 0;
  } finally {
    progress.close();
  }
}

function formatText({
  store,
  found,
  written,
  differences,
  problems,
}: CarryReport): string {
  const rows = [
    ...differences.map((one) => [one.kind, one.name, "differs", one.problem]),
    ...problems.map((one) => [one.kind, one.name, "bad", one.problem]),
  ];
  const head = ["KIND", "NAME", "STATE", "BECAUSE"];
  const table = formatTable([head, ...rows]);
  return `${table}${found.records} records and ${found.archives} archives (${formatAmount(found.bytes)}): ${written.records} and ${written.archives} (${formatAmount(written.bytes)}) were written, ${differences.length} differ, ${problems.length} bad. The bucket has the store ${store}.\n`;
}
