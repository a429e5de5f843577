import { describe, expect, it } from "vitest";
import { type Version, parseVersion } from "../../../src/address/version.ts";
import { failure } from "../../../src/errors/index.ts";
import { systemClock } from "../../../src/mirror/cache/clock.ts";
import {
  isAlarming,
  mergeVersions,
  refreshVersions,
  type VersionList,
} from "../../../src/mirror/versions/version-list.ts";
import { failing } from "../../scenes/failing.ts";

const now = new Date("2026-01-01T00:00:00Z");
const later = new Date("2026-02-01T00:00:00Z");
const future = new Date("2036-01-01T00:00:00Z");

/** An origin's list of versions. */
function answerOf(...versions: readonly string[]) {
  const described = versions.map((version) => ({
    version: parseVersion(version),
    ...{ protocols: [], platforms: undefined },
  }));
  return { versions: described, warnings: [] };
}

/** What is known once an origin gave these lists, one after the other: when a version appeared. */
function merged(...lists: readonly (readonly [Date, string])[]) {
  let known: VersionList | undefined;
  for (const [at, text] of lists)
    known = mergeVersions("acme/x", known, answerOf(...text.split(" ")), at);
  return (version: string) => known?.versions.get(version as Version)?.appeared;
}

it("what is known has an end, also when an origin names other versions at each time", () => {
  const merge = (
    known: VersionList | undefined,
    minor: number,
    length = 9_000,
  ) => {
    const names = Array.from({ length }, (_, n) => `1.${minor}.${n}`);
    return mergeVersions("acme/x", known, answerOf(...names), now);
  };
  const first = merge(undefined, 0);
  const second = merge(first, 1);
  expect(merge(second, 2, 2_000).versions.size).toBe(20_000);
  expect(() => merge(second, 2, 2_001)).toThrow(
    "acme/x gave an unusable answer (with what its registry listed earlier there are more than 20000 versions",
  );
  // Where one list may have more, they may come once more.
  expect(merge(first, 2, 15_000).versions.size).toBe(24_000);
});

it("a new version is dated once, and never taken for what was there at first, however clocks are set", () => {
  const grown = "1.0.0 2.0.0";
  const clocks = [now, later, future];
  for (const one of clocks)
    for (const two of clocks) {
      const appeared = merged([later, "1.0.0"], [one, grown], [two, grown]);
      expect(appeared("2.0.0")).toEqual(two < one ? two : one);
      expect(appeared("1.0.0")).toBeUndefined();
    }
});

it("what appeared in the future, under a wrong clock, appears now, also where it is listed no longer", () => {
  const appeared = merged(
    [future, "1.0.0 2.0.0"],
    [future, "1.0.0 3.0.0 4.0.0"],
    [now, "1.0.0 3.0.0"],
    [later, "1.0.0 3.0.0"],
  );
  for (const version of ["3.0.0", "4.0.0"])
    expect(appeared(version)).toEqual(now);
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

describe("a list that is asked for again", () => {
  const names = Array.from({ length: 11 }, (_, minor) => `1.${minor}.0`);
  const first = mergeVersions("acme/x", undefined, answerOf(...names), now);
  /** Ten of them were withdrawn earlier. */
  const last = mergeVersions("acme/x", first, answerOf("1.0.0"), later);
  const gone = () => Promise.reject(failure("not-found", "acme/x"));
  const vanished: string[][] = [];
  const ask = (
    known: VersionList | undefined,
    asked: Promise<ReturnType<typeof answerOf>>,
    freshFor?: number,
  ) => {
    vanished.length = 0;
    const origin = { clock: systemClock, freshFor };
    return refreshVersions("acme/x", known, asked, origin, (versions) =>
      vanished.push([...versions]),
    );
  };

  it("tells of versions that vanished by how many were listed until then", async () => {
    await ask(last, Promise.resolve(answerOf()));
    expect(vanished).toEqual([["1.0.0"]]);
    await ask(first, Promise.resolve(answerOf(...names.slice(1))));
    expect(vanished).toEqual([]);
  });

  it("is empty when what was known is gone, and absent when nothing was", async () => {
    const { versions } = await ask(first, gone());
    expect([...versions.values()].some(({ listed }) => listed)).toBe(false);
    expect(vanished).toEqual([names]);
    await expect(ask(undefined, gone())).rejects.toThrow(failing("not-found"));
    const late = () =>
      Promise.reject(failure("origin-timeout", "https://a/", "late"));
    await expect(ask(first, late())).rejects.toThrow(failing("origin-timeout"));
  });

  it("is the very same one when a folder lists the same", async () => {
    const same = () => Promise.resolve(answerOf("1.0.0"));
    expect(await ask(last, same(), 1_000)).toBe(last);
    expect(await ask(last, same())).not.toBe(last);
  });
});
