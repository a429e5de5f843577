/** Rows under a head, in columns. */
export function formatTable(rows: readonly (readonly string[])[]): string {
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
