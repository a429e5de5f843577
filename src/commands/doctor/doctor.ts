import { formatDocument } from "../output/json-document.ts";
import type { Check } from "./check.ts";

/** `provender doctor`: prints what was found; returns the exit status, 1 when a check fails. */
export function tellChecks(
  checks: readonly Check[],
  { json }: { readonly json: boolean },
  stdout: (text: string) => void,
): number {
  const failures = checks.filter(({ state }) => state === "fail").length;
  const ok = failures === 0;
  stdout(json ? formatDocument({ ok, checks }) : formatText(checks, failures));
  return ok ? 0 : 1;
}

function formatText(checks: readonly Check[], failures: number): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const lines = checks.flatMap(({ check, state, found, remedy }) => [
    `${state.padEnd(4)}  ${check.padEnd(width)}  ${found}\n`,
    ...(remedy === null ? [] : [`${" ".repeat(width + 8)}${remedy}\n`]),
  ]);
  const warnings = checks.filter(({ state }) => state === "warn").length;
  const sum = `${checks.length} checks: ${failures} failed, ${warnings} warnings.\n`;
  return lines.join("") + sum;
}
