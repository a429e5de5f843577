import type { Ledger } from "./ledger.ts";
import { lateSlopeOf, secondHourOf, trendOf, type Sample } from "./trend.ts";

/** Samples of the daemon's memory in MiB and of its descriptors. */
export interface Measured {
  readonly memory: readonly Sample[];
  readonly descriptors: readonly Sample[];
}

/** How much the fitted line may grow over a run, or in an hour of a longer one. */
const mostGrowth = { memory: 64, descriptors: 8 } as const;
/** In MiB: of the last sample, of the last half hour of an hour, and in the second hour. */
const mostMemory = { end: 400, lateSlope: 20, secondHour: 4 } as const;

interface Row {
  readonly name: string;
  readonly value: string;
  readonly bound: string;
  readonly isMet: boolean;
}

/** The table, and whether every bound is kept. */
export function formatReport(
  seconds: number,
  ledger: Ledger,
  measured: Measured,
): { readonly text: string; readonly isMet: boolean } {
  const rows = [
    row(
      "requests",
      `${ledger.total} (${(ledger.total / seconds).toFixed(0)}/s)`,
    ),
    ...memoryRows(measured.memory),
    trendRow("descriptors", "", measured.descriptors, mostGrowth.descriptors),
    row("wrong bytes", String(ledger.wrongBytes), "0", ledger.wrongBytes === 0),
    row(
      "what must not fail",
      `${ledger.brokenInAll} failed`,
      "0",
      ledger.brokenInAll === 0,
    ),
  ];
  const text = [
    `after ${seconds.toFixed(0)} s`,
    ...rows.map(formatRow),
    ...list("requests", ledger.requests),
    ...list("failures while the origin failed", ledger.failures),
    ...ledger.broken.map((one) => `  BROKEN ${one}`),
  ].join("\n");
  return { text, isMet: rows.every(({ isMet }) => isMet) };
}

/** While the caches fill, in the first half hour, the line may rise. */
function memoryRows(samples: readonly Sample[]): readonly Row[] {
  const { end, lateSlope, secondHour } = mostMemory;
  const last = samples.at(-1)?.[1] ?? 0;
  const slope = lateSlopeOf(samples);
  const more = secondHourOf(samples);
  const growth = slope === undefined ? mostGrowth.memory : Infinity;
  return [
    trendRow("memory", "MiB", samples, growth),
    row("memory at the end", `${last.toFixed(0)} MiB`, `${end}`, last <= end),
    ...boundRow("its last half hour", slope, "MiB/h", lateSlope),
    ...boundRow("its second hour", more, "MiB", secondHour),
  ];
}

function boundRow(
  name: string,
  value: number | undefined,
  unit: string,
  most: number,
): readonly Row[] {
  if (value === undefined) return [];
  return [row(name, `${value.toFixed(1)} ${unit}`, `${most}`, value <= most)];
}

function trendRow(
  name: string,
  unit: string,
  samples: readonly Sample[],
  most: number,
): Row {
  const { first, last, most: peak, perHour, growth } = trendOf(samples);
  const [start, end, top] = [first, last, peak].map((n) => n.toFixed(0));
  const slope =
    perHour === undefined
      ? "too short to tell a slope"
      : `${perHour.toFixed(1)} ${unit}/h`;
  const value = `${start} … ${end} ${unit} (most ${top}), ${slope}`;
  const bound =
    most === Infinity ? "" : `+${most} ${unit} in the run, or an hour of it`;
  return row(name, value, bound, growth === undefined || growth <= most);
}

function row(name: string, value: string, bound = "", isMet = true): Row {
  return { name, value, bound, isMet };
}

function formatRow({ name, value, bound, isMet }: Row): string {
  const verdict =
    bound === "" ? "" : `≤ ${bound}: ${isMet ? "met" : "NOT MET"}`;
  return `  ${name.padEnd(20)} ${value.padEnd(52)} ${verdict}`.trimEnd();
}

function list(
  title: string,
  counts: ReadonlyMap<string, number>,
): readonly string[] {
  const items = [...counts].map(([name, count]) => `${name} × ${count}`);
  if (items.length === 0) return [];
  return [`  ${title}: ${items.toSorted().join(", ")}`];
}
