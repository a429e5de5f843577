import { describe, expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import { mergeVersions } from "../../../src/mirror/versions/version-list.ts";
import { answerOf, future, later, now } from "../releases/listed-versions.ts";

describe("a list that is joined to what is known", () => {
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

  it("never takes what came later for what was there at first, however clocks are set", () => {
    const first = mergeVersions("acme/x", undefined, answerOf("1.0.0"), later);
    const grown = answerOf("1.0.0", "2.0.0");
    const clocks = [now, later, future];
    for (const one of clocks)
      for (const two of clocks) {
        const ours = mergeVersions("acme/x", first, grown, one);
        const renewed = mergeVersions("acme/x", ours, grown, two);
        const appeared = (name: string) =>
          renewed.versions.get(parseVersion(name))?.appeared;
        expect(appeared("2.0.0")).toBeInstanceOf(Date);
        expect(appeared("1.0.0")).toBeUndefined();
      }
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
