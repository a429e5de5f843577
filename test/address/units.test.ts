import fc from "../seeded.ts";
import { expect, it } from "vitest";
import {
  formatDuration,
  parseDuration,
  parseSize,
} from "../../src/address/units.ts";

it.each([
  ["0", 0],
  ["1500", 1500],
  ["2KiB", 2048],
  ["512MiB", 536_870_912],
  ["200GiB", 214_748_364_800],
  ["1TiB", 1_099_511_627_776],
])("reads %s as %d bytes", (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

it.each([
  ["0", 0],
  ["500ms", 500],
  ["30s", 30_000],
  ["5m", 300_000],
  ["1h", 3_600_000],
  ["7d", 604_800_000],
])("reads %s as %d milliseconds", (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

it.each([
  ...["", "KiB", "5KB", "5 MiB", "1.5GiB", "-1", "5mib", "1e3"],
  ...["9000000000TiB", "99999999999999999"],
])("refuses %j as a size", (text) => {
  expect(() => parseSize(text)).toThrow(RangeError);
});

it.each(["", "5", "s", "5 m", "1.5h", "-1s", "5M", "1w", "1h30m"])(
  "refuses %j as a duration",
  (text) => {
    expect(() => parseDuration(text)).toThrow(RangeError);
  },
);

it("reads the durations that it writes, in the largest unit that is exact", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (milliseconds) => {
      expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
    }),
  );
  const written = [0, 1500, 60_000, 86_400_000].map(formatDuration);
  expect(written).toEqual(["0", "1500ms", "1m", "1d"]);
});
