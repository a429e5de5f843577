import { describe, expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import { NotFound, OriginTimedOut } from "../../../src/errors/index.ts";
import { systemClock } from "../../../src/mirror/cache/clock.ts";
import {
  findVanished,
  firstContactOf,
  isAlarming,
  isSameList,
  mergeVersions,
  refreshVersions,
  type ListedVersion,
  type VersionList,
} from "../../../src/mirror/releases/version-list.ts";
import { startProcessorTime } from "../../processor-time.ts";

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
    const first = mergeVersions(
      "acme/x",
      undefined,
      answerOf("1.0.0", "2.0.0"),
      now,
    );
    const second = mergeVersions("acme/x", first, answerOf("2.0.0"), later);
    const third = mergeVersions("acme/x", second, answerOf("2.0.0"), later);
    expect([...third.versions.keys()].toSorted()).toEqual(["1.0.0", "2.0.0"]);
    expect(third.versions.get(parseVersion("1.0.0"))?.listed).toBe(false);
    expect(findVanished(first, second)).toEqual(["1.0.0"]);
    expect(findVanished(second, third)).toEqual([]);
  });

  it("has an end, also when an origin names other versions at each time", () => {
    const page = (from: number) =>
      answerOf(...Array.from({ length: 9_000 }, (_, n) => `1.${from}.${n}`));
    const first = mergeVersions("acme/x", undefined, page(0), now);
    const second = mergeVersions("acme/x", first, page(1), later);
    expect(second.versions.size).toBe(18_000);
    const last = answerOf(
      ...Array.from({ length: 2_000 }, (_, n) => `3.0.${n}`),
    );
    expect(mergeVersions("acme/x", second, last, later).versions.size).toBe(
      20_000,
    );
    expect(() => mergeVersions("acme/x", second, page(2), later)).toThrow(
      "acme/x gave an unusable answer (with what its registry listed earlier there are more than 20000 versions",
    );
    // Where one list may have more, they may come once more.
    const large = answerOf(
      ...Array.from({ length: 15_000 }, (_, n) => `2.0.${n}`),
    );
    expect(mergeVersions("acme/x", first, large, later).versions.size).toBe(
      24_000,
    );
  });

  it("dates a new version once", () => {
    const first = mergeVersions("acme/x", undefined, answerOf("1.0.0"), now);
    const second = mergeVersions(
      "acme/x",
      first,
      answerOf("1.0.0", "2.0.0"),
      later,
    );
    const third = mergeVersions(
      "acme/x",
      second,
      answerOf("1.0.0", "2.0.0"),
      future,
    );
    const { versions } = third;
    expect(versions.get(parseVersion("1.0.0"))?.appeared).toBeUndefined();
    expect(versions.get(parseVersion("2.0.0"))?.appeared).toEqual(later);
  });

  it("lets what appeared in the future, under a wrong clock, appear now", () => {
    const first = mergeVersions(
      "acme/x",
      undefined,
      answerOf("1.0.0", "2.0.0"),
      future,
    );
    const second = mergeVersions(
      "acme/x",
      first,
      answerOf("1.0.0", "3.0.0", "4.0.0"),
      future,
    );
    const third = mergeVersions(
      "acme/x",
      second,
      answerOf("1.0.0", "3.0.0"),
      now,
    );
    const fourth = mergeVersions(
      "acme/x",
      third,
      answerOf("1.0.0", "3.0.0"),
      later,
    );
    for (const version of ["3.0.0", "4.0.0"])
      expect(fourth.versions.get(parseVersion(version))?.appeared).toEqual(now);
  });
});

describe("the first contact of each version", () => {
  it("is told at once of a list of 10 000 that came after an empty one", () => {
    const names = Array.from({ length: 10_000 }, (_, n) => `1.${n}.0`);
    const empty = mergeVersions("acme/x", undefined, answerOf(), now);
    const list = mergeVersions("acme/x", empty, answerOf(...names), later);
    const more = mergeVersions(
      "acme/x",
      list,
      answerOf(...names, "2.0.0"),
      future,
    );
    const taken = startProcessorTime();
    for (const version of list.versions.keys())
      expect(firstContactOf(more, version)).toEqual(later);
    expect(firstContactOf(more, parseVersion("2.0.0"))).toBeUndefined();
    expect(taken()).toBeLessThan(500);
  });
});

it.each([
  ["of the first list", "1.0.0", now],
  ["that came later", "2.0.0", undefined],
  ["that no list has", "3.0.0", undefined],
])("a version %s was met with it", (_which, version, met) => {
  const first = mergeVersions("acme/x", undefined, answerOf("1.0.0"), now);
  const both = answerOf("2.0.0", "1.0.0");
  const list = mergeVersions("acme/x", first, both, later);
  expect(firstContactOf(list, parseVersion(version))).toEqual(met);
});

it("after an empty list, the versions that appeared first were met, in whatever order they are listed", () => {
  const empty = mergeVersions("acme/x", undefined, answerOf(), now);
  const first = mergeVersions("acme/x", empty, answerOf("1.0.0"), later);
  const both = answerOf("2.0.0", "1.0.0");
  const list = mergeVersions("acme/x", first, both, future);
  const contacts = ["2.0.0", "1.0.0"].map((version) =>
    firstContactOf(list, parseVersion(version)),
  );
  expect(contacts).toEqual([undefined, later]);
});

describe("two lists are the same", () => {
  const list = mergeVersions(
    "acme/x",
    mergeVersions("acme/x", undefined, answerOf("1.0.0"), now),
    answerOf("1.0.0", "2.0.0"),
    later,
  );
  const changed = (change: Partial<ListedVersion>) => ({
    ...list,
    versions: new Map(
      [...list.versions].map(([name, entry]) => [
        name,
        { ...entry, ...change },
      ]),
    ),
  });
  const linux = { os: "linux", arch: "amd64" };

  it("when all of them is, also in objects of their own", () => {
    expect(isSameList(list, structuredClone(list))).toBe(true);
    const offered = changed({ platforms: [linux] });
    expect(isSameList(offered, structuredClone(offered))).toBe(true);
    expect(isSameList(undefined, undefined)).toBe(true);
  });

  it.each<[string, VersionList | undefined]>([
    ["there is none", undefined],
    ["first contact", { ...list, firstContact: later }],
    ["a warning", { ...list, warnings: ["old"] }],
    ["a version less", { ...list, versions: new Map() }],
    ["what is listed", changed({ listed: false })],
    ["when it appeared", changed({ appeared: future })],
    ["protocols", changed({ protocols: ["6.0"] })],
    ["platforms", changed({ platforms: [linux] })],
    ["no platforms", changed({ platforms: [] })],
    [
      "one version of two",
      {
        ...list,
        versions: new Map([
          ...list.versions,
          ...[...changed({ protocols: ["6.0"] }).versions].slice(1),
        ]),
      },
    ],
  ])("and not when they differ in %s", (_, other) => {
    expect(isSameList(list, other)).toBe(false);
    expect(isSameList(other, list)).toBe(false);
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

describe("a list that is asked for again", () => {
  const names = Array.from({ length: 11 }, (_, minor) => `1.${minor}.0`);
  const first = mergeVersions("acme/x", undefined, answerOf(...names), now);
  /** Ten of them were withdrawn earlier. */
  const last = mergeVersions("acme/x", first, answerOf("1.0.0"), later);
  const gone = () => Promise.reject(new NotFound("acme/x"));
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
    await expect(ask(undefined, gone())).rejects.toThrow(NotFound);
    const late = () => Promise.reject(new OriginTimedOut("https://a/", "late"));
    await expect(ask(first, late())).rejects.toThrow(OriginTimedOut);
  });

  it("is the very same one when a folder lists the same", async () => {
    const same = () => Promise.resolve(answerOf("1.0.0"));
    expect(await ask(last, same(), 1_000)).toBe(last);
    expect(await ask(last, same())).not.toBe(last);
  });
});
