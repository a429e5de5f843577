const least = 1_000;
const most = 5 * 60_000;

/**
 * Parses milliseconds to wait, between one second and five minutes (RFC 9110,
 * 10.2.3). The header has whole seconds, or a date. The date is compared with
 * the answer's own `Date`, because the two clocks may differ. Undefined for any
 * other text.
 */
export function parseRetryAfter(
  text: string | undefined,
  answeredAt: string | undefined,
  now: Date,
): number | undefined {
  if (text === undefined) return undefined;
  if (/^[0-9]+$/.test(text)) return clamp(Number(text) * 1000);
  const date = parseHttpDate(text);
  if (date === undefined) return undefined;
  return clamp(date - (parseHttpDate(answeredAt ?? "") ?? now.getTime()));
}

function parseHttpDate(text: string): number | undefined {
  // Only what looks like one of the three forms: Date.parse reads almost anything.
  if (!/^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}

function clamp(ms: number): number {
  return Math.min(most, Math.max(least, ms));
}
