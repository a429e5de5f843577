import { isMet, type Figure } from "./figure.ts";
import type { Machine } from "./machine.ts";
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
  return result.figures.map((figure) =>
    [
      figure.what.padEnd(28),
      formatValue(figure.value, figure.unit).padStart(14),
      formatTarget(figure).padStart(18),
      isMet(figure) ? "  met" : "  NOT MET",
    ].join(" "),
  );
}

export function formatMachine(machine: Machine): string {
  const { cores, processor, memoryGiB, node } = machine;
  return `${cores} cores (${processor}), ${memoryGiB} GiB of memory, Node ${node}`;
}

/** The same for programs. */
export function describeJson(
  machine: Machine,
  results: readonly Result[],
): object {
  const rows = results.map(({ row, ...result }) => ({
    ...row,
    ...result,
    ...("figures" in result
      ? {
          figures: result.figures.map((figure) => ({
            ...figure,
            met: isMet(figure),
          })),
        }
      : {}),
  }));
  return { machine, rows };
}

function formatValue(value: number, unit: Figure["unit"]): string {
  const digits = unit === "×" ? 2 : unit === "requests" ? 0 : 1;
  return `${value.toFixed(digits)} ${unit}`;
}

function formatTarget({ target, unit }: Figure): string {
  const [sign, value] =
    "atLeast" in target
      ? ["≥", target.atLeast]
      : "atMost" in target
        ? ["≤", target.atMost]
        : ["=", target.exactly];
  return `${sign} ${value} ${unit}`;
}
