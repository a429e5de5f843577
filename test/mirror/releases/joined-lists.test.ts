import { describe, expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import {
  firstContactOf,
  joinLists,
  limitVersions,
  type VersionList,
} from "../../../src/mirror/versions/version-list.ts";

const january = new Date("2026-01-01T00:00:00Z");
const february = new Date("2026-02-01T00:00:00Z");
const march = new Date("2026-03-01T00:00:00Z");
const one = parseVersion("1.0.0");

/** A list of version 1.0.0, or of none; `appeared` undefined: it was in the first list. */
function listOf(
  firstContact: Date,
  entry?: { readonly appeared?: Date; readonly listed?: boolean },
  warnings: readonly string[] = [],
): VersionList {
  const { appeared, listed = true } = entry ?? {};
  const known = {
    ...{ version: one, protocols: warnings, platforms: undefined },
    ...{ appeared, listed },
  };
  const versions = new Map(entry === undefined ? [] : [[one, known]]);
  return { firstContact, versions, warnings };
}

describe("of two lists that processes made side by side, a version", () => {
  it.each<[string, VersionList, VersionList, Date | undefined]>([
    [
      "in both first lists was in the first",
      listOf(february, {}),
      listOf(january, {}),
      undefined,
    ],
    [
      "in the first list of the later contact appeared with it",
      listOf(february, {}),
      listOf(january),
      february,
    ],
    [
      "in the first list of the earlier contact was in the first",
      listOf(february, { appeared: march }),
      listOf(january, {}),
      undefined,
    ],
    [
      "that appeared in both appeared when the first saw it",
      listOf(january, { appeared: march }),
      listOf(january, { appeared: february }),
      february,
    ],
    [
      "that appeared in one alone appeared then",
      listOf(january, { appeared: march }),
      listOf(january),
      march,
    ],
    [
      "that appeared with the contact of the other was in the first",
      listOf(january, { appeared: january }),
      listOf(january),
      undefined,
    ],
  ])("%s", (_rule, newer, older, expected) => {
    for (const joined of [joinLists(newer, older), joinLists(older, newer)]) {
      expect(joined.versions.get(one)?.appeared).toEqual(expected);
      expect(joined.firstContact).toEqual(
        newer.firstContact < older.firstContact
          ? newer.firstContact
          : older.firstContact,
      );
    }
  });

  it("is as the newer one says, and listed no more where that does not name it", () => {
    const newer = listOf(january, { listed: true }, ["new"]);
    const older = listOf(january, { listed: false }, ["old"]);
    const joined = joinLists(newer, older);
    expect(joined).toEqual(newer);
    expect(joinLists(older, newer)).toEqual(older);
    const left = joinLists(listOf(january), newer);
    expect(left.versions.get(one)).toMatchObject({
      listed: false,
      protocols: ["new"],
    });
    expect(left.warnings).toEqual([]);
  });
});

describe("first contact with a version", () => {
  const two = parseVersion("2.0.0");
  const withTwo = (list: VersionList, appeared: Date | undefined) => {
    const entry = { ...listOf(january, {}).versions.get(one), version: two };
    const known = { protocols: [], platforms: undefined, listed: true };
    const versions = new Map(list.versions);
    versions.set(two, { ...known, ...entry, appeared });
    return { ...list, versions };
  };
  it.each<[string, VersionList, Date | undefined]>([
    ["was with the first list that had it", listOf(january, {}), january],
    ["was none when no list had it", listOf(january), undefined],
    [
      "was with the first list that was not empty",
      listOf(january, { appeared: february }),
      february,
    ],
    [
      "was none when it came later than the first list",
      withTwo(listOf(january, { appeared: february }), undefined),
      undefined,
    ],
    [
      "was none when it came later than the first list that was not empty",
      withTwo(listOf(january, { appeared: march }), february),
      undefined,
    ],
    [
      "was with the first of those that came after an empty list",
      withTwo(listOf(january, { appeared: february }), march),
      february,
    ],
  ])("%s", (_rule, list, expected) => {
    expect(firstContactOf(list, one)).toEqual(expected);
    expect(firstContactOf(list, one)).toEqual(expected);
  });
});

describe("a list of what is held alone", () => {
  it("has these versions as they are known, and no warnings", () => {
    const list = listOf(january, { appeared: march, listed: false }, ["old"]);
    const limited = limitVersions(list, new Set([one]));
    expect(limited).toEqual({ ...list, warnings: [] });
    expect(limitVersions(list, new Set()).versions.size).toBe(0);
  });

  it("has versions that no list knows, as listed before there was any", () => {
    for (const list of [undefined, listOf(january)]) {
      const { versions, firstContact } = limitVersions(list, new Set([one]));
      expect(firstContact).toEqual(list?.firstContact ?? new Date(0));
      expect(versions.get(one)).toEqual({
        version: one,
        protocols: [],
        platforms: undefined,
        appeared: undefined,
        listed: true,
      });
    }
  });
});
