import { describe, expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import {
  findVanished,
  isAlarming,
  mergeVersions,
} from "../../../src/mirror/releases/version-list.ts";

const now = new Date("2026-01-01T00:00:00Z");
const later = new Date("2026-02-01T00:00:00Z");
const future = new Date("2036-01-01T00:00:00Z");

function answerOf(...versions: readonly string[]) {
  return {
    versions: versions.map((version) => ({
      version: parseVersion(version),
      protocols: [],
      platforms: undefined,
    })),
    warnings: [],
  };
}

describe("a list that is joined to what is known", () => {
  it("keeps what the origin lists no more, and tells that it vanished once", () => {
    const first = mergeVersions(undefined, answerOf("1.0.0", "2.0.0"), now);
    const second = mergeVersions(first, answerOf("2.0.0"), later);
    const third = mergeVersions(second, answerOf("2.0.0"), later);
    expect([...third.versions.keys()].toSorted()).toEqual(["1.0.0", "2.0.0"]);
    expect(third.versions.get(parseVersion("1.0.0"))?.listed).toBe(false);
    expect(findVanished(first, second)).toEqual(["1.0.0"]);
    expect(findVanished(second, third)).toEqual([]);
  });

  it("dates a new version once", () => {
    const first = mergeVersions(undefined, answerOf("1.0.0"), now);
    const second = mergeVersions(first, answerOf("1.0.0", "2.0.0"), later);
    const third = mergeVersions(second, answerOf("1.0.0", "2.0.0"), future);
    const { versions } = third;
    expect(versions.get(parseVersion("1.0.0"))?.appeared).toBeUndefined();
    expect(versions.get(parseVersion("2.0.0"))?.appeared).toEqual(later);
  });

  it("lets what appeared in the future, under a wrong clock, appear now", () => {
    const first = mergeVersions(undefined, answerOf("1.0.0", "2.0.0"), future);
    const second = mergeVersions(
      first,
      answerOf("1.0.0", "3.0.0", "4.0.0"),
      future,
    );
    const third = mergeVersions(second, answerOf("1.0.0", "3.0.0"), now);
    const fourth = mergeVersions(third, answerOf("1.0.0", "3.0.0"), later);
    for (const version of ["3.0.0", "4.0.0"])
      expect(fourth.versions.get(parseVersion(version))?.appeared).toEqual(now);
  });
});

it.each([
  [1, 10, false],
  [1, 9, true],
  [5, 50, false],
  [5, 49, true],
  [6, 1_000, true],
  [1, 1, true],
])("%i vanished of %i that were listed: an alarm is %s", (gone, of, alarm) => {
  expect(isAlarming(gone, of)).toBe(alarm);
});
