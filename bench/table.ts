import { cpus, totalmem } from "node:os";
import type { Figure } from "./figure.ts";
import type { Row } from "./row.ts";

/** Result of a row. */
export type Result = {
  readonly row: Pick<Row, "name" | "what" | "against">;
  readonly remarks: readonly string[];
} & (
  | { readonly figures: readonly Figure[] }
  /** Why it was not measured. */
  | { readonly skipped: string }
  | { readonly failed: string }
);

/** One paragraph a row, for people. */
export function formatResult(result: Result): string {
  const { name, what, against } = result.row;
  const remarks = result.remarks.map((remark) => `      ${remark}`);
  return [
    `${name}: ${what}`,
    `  against ${against}`,
    ...formatOutcome(result).map((line) => `    ${line}`),
    ...remarks,
  ].join("\n");
}

function formatOutcome(result: Result): readonly string[] {
  if ("skipped" in result) return [`skipped: ${result.skipped}`];
  if ("failed" in result) return [`FAILED: ${result.failed}`];
  return result.figures.map(({ what, value, unit, sign, target, isMet }) => {
    const digits = unit === "×" ? 2 : unit === "requests" ? 0 : 1;
    return [
      what.padEnd(28),
      `${value.toFixed(digits)} ${unit}`.padStart(14),
      `${sign} ${target} ${unit}`.padStart(18),
      isMet ? "  met" : "  NOT MET",
    ].join(" ");
  });
}

/** Machine that the figures were measured on. */
export function describeMachine() {
  const processors = cpus();
  return {
    cores: processors.length,
    processor: processors[0]?.model ?? "unknown",
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
}

export function formatMachine(machine: ReturnType<typeof describeMachine>) {
  const { cores, processor, memoryGiB, node } = machine;
  return `${cores} cores (${processor}), ${memoryGiB} GiB of memory, Node ${node}`;
}
