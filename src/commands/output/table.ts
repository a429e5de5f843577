type Rows = readonly (readonly string[])[];

/** Rows under a head, which comes first; empty where there is nothing under it. */
export function formatTable(rows: Rows): string {
  return rows.length > 1 ? formatRows(rows) : "";
}

/** Formats rows in columns. */
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
