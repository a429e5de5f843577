import fc from "../seeded.ts";
import { expect, it } from "vitest";
import {
  formatDuration,
  parseDuration,
  parseSize,
} from "../../src/address/units.ts";

it("a size is a number of bytes, or of a binary unit", () => {
  const sizes = ["0", "1500", "2KiB", "512MiB", "200GiB", "1TiB"];
  expect(sizes.map(parseSize)).toEqual([
    ...[0, 1500, 2048, 2 ** 29, 200 * 2 ** 30, 2 ** 40],
  ]);
  for (const text of [
    ...["", "KiB", "5KB", "5 MiB", "1.5GiB", "-1", "5mib", "1e3"],
    ...["9000000000TiB", "99999999999999999"],
  ])
    expect(() => parseSize(text), text).toThrow(RangeError);
});

it("a duration has a unit, but for none", () => {
  const durations = ["0", "500ms", "30s", "5m", "1h", "7d"];
  expect(durations.map(parseDuration)).toEqual([
    ...[0, 500, 30_000, 300_000, 3_600_000, 604_800_000],
  ]);
  for (const text of ["", "5", "s", "5 m", "1.5h", "-1s", "5M", "1w", "1h30m"])
    expect(() => parseDuration(text), text).toThrow(RangeError);
});

it("reads the durations that it writes, in the largest unit that is exact", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (milliseconds) => {
      expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
    }),
  );
  const written = [0, 1500, 60_000, 86_400_000].map(formatDuration);
  expect(written).toEqual(["0", "1500ms", "1m", "1d"]);
});
