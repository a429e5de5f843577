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

/** Seconds for people, such as `45s`, `1m10s` or `2h05m`. */
export function formatTime(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [minutes, hours] = [Math.floor(whole / 60), Math.floor(whole / 3600)];
  if (minutes === 0) return `${whole}s`;
  if (hours === 0) return `${minutes}m${pad(whole % 60)}s`;
  return `${hours}h${pad(minutes % 60)}m`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
