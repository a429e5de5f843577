import { formatTable } from "../progress/table.ts";
import type { ListedNamespace } from "./trust.ts";

/** The trust ledger for people: a table a namespace. */
export function formatTrust(listed: readonly ListedNamespace[]): string {
  if (listed.length === 0) return "Nothing has been seen yet.\n";
  return listed.map(formatNamespace).join("\n");
}

function formatNamespace(listed: ListedNamespace): string {
  const { namespace, seen } = listed;
  const sections = [
    [["KEY", "STATE", "SINCE", "FIRST FOR"], ...keyRows(listed)],
    [
      ["HELD BACK", "KEY", "SINCE", "BECAUSE"],
      ...seen.quarantined.map((held) => [
        `${held.type} ${held.version}`,
        held.fingerprint,
        day(held.since),
        held.reason,
      ]),
    ],
    [
      ["RE-CREATED", "OFFERED SHA256SUMS", "SINCE", "KEY"],
      ...seen.replaced.map((entry) => [
        `${entry.type} ${entry.version}`,
        entry.offered,
        day(entry.since),
        entry.fingerprint ?? "none",
      ]),
    ],
    [
      ["FALLEN", "BECAUSE", "SINCE"],
      ...seen.fallen.map((entry) => [
        `${entry.type} ${entry.version}`,
        entry.reason,
        day(entry.since),
      ]),
    ],
  ];
  const tables = sections
    .filter((rows) => rows.length > 1)
    .map((rows) => formatTable(rows));
  return `${namespace}\n${tables.join("")}`;
}

function keyRows({ seen, decisions }: ListedNamespace): string[][] {
  const decided = new Map(
    decisions.keys.map((key) => [key.fingerprint, key.decision]),
  );
  const known = seen.keys.map((key) => [
    key.fingerprint,
    decided.get(key.fingerprint) ?? key.because,
    day(key.since),
    `${key.type} ${key.version}`,
  ]);
  const seenKeys = new Set(seen.keys.map((key) => key.fingerprint));
  const others = decisions.keys
    .filter((key) => !seenKeys.has(key.fingerprint))
    .map((key) => [key.fingerprint, key.decision, day(key.at), "-"]);
  return [...known, ...others];
}

function day(moment: string): string {
  return moment.slice(0, 10);
}
