const sizeUnits = [
  ["TiB", 2 ** 40],
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
] as const;

const durationUnits = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
] as const;

/** `512MiB`, `200GiB`, or plain bytes; returns bytes, throws RangeError. */
export function parseSize(text: string): number {
  return parseQuantity(text, [...sizeUnits, ["", 1]], "size");
}

/** `500ms`, `30s`, `5m`, `1h`, `7d` or `0`; returns milliseconds, throws RangeError. */
export function parseDuration(text: string): number {
  return text === "0" ? 0 : parseQuantity(text, durationUnits, "duration");
}

/** Formats with the largest unit that is exact. */
export function formatDuration(milliseconds: number): string {
  const unit = durationUnits.find(
    ([, factor]) => milliseconds > 0 && milliseconds % factor === 0,
  );
  return unit ? `${milliseconds / unit[1]}${unit[0]}` : String(milliseconds);
}

function parseQuantity(
  text: string,
  units: readonly (readonly [name: string, factor: number])[],
  what: string,
): number {
  const [, digits = "", name] = /^([0-9]+)([A-Za-z]*)$/.exec(text) ?? [];
  const factor = units.find((unit) => unit[0] === name)?.[1];
  const value = Number(digits) * (factor ?? NaN);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`${JSON.stringify(text)} is not a ${what}.`);
  return value;
}
