type Rows = readonly (readonly string[])[];

/** Rows under a head, which comes first; empty where there is nothing under it. */
export function formatTable(rows: Rows): string {
  return rows.length > 1 ? formatRows(rows) : "";
}

export function formatRows(rows: Rows): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) => {
      const cells = row.map((text, column) => text.padEnd(widths[column] ?? 0));
      return `  ${cells.join("  ").trimEnd()}\n`;
    })
    .join("");
}

const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Bytes for people, such as `12.3 MiB`. */
export function formatAmount(bytes: number): string {
  let amount = bytes;
  let index = 0;
  while (amount >= 1000 && index < units.length - 1) {
    amount /= 1024;
    index++;
  }
  return `${index === 0 ? Math.round(amount) : amount.toFixed(1)} ${units[index] ?? ""}`;
}

/** A moment for people, in UTC, such as `2026-11-29T08:15`. */
export function formatMinute(moment: Date | number): string {
  return new Date(moment).toISOString().slice(0, 16);
}
