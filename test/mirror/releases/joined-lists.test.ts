import { describe, expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import {
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
      "that appeared under a clock that was set back to before the contact appeared then",
      listOf(february, { appeared: january }),
      listOf(february),
      january,
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

  it("is as the newer one says, and no longer listed where that does not name it", () => {
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
