const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Bytes for people. */
export function formatBytes(bytes: number): string {
  const index = Math.min(
    units.length - 1,
    Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)),
  );
  const amount = bytes / 1024 ** index;
  return `${index === 0 ? amount : amount.toFixed(1)} ${units[index] ?? ""}`;
}

/** Formats to the minute, in UTC; empty for none. */
export function dateOf(moment: Date | undefined): string {
  return moment === undefined
    ? ""
    : `${moment.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
