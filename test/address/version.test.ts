import fc from "../seeded.ts";
import { expect, test } from "vitest";
import { failing } from "../scenes/failing.ts";
import {
  compareVersions,
  newestFirst,
  parseVersion,
} from "../../src/address/version.ts";

test.each([
  ...["0.0.0", "10.20.30", "1.2.3-beta1", "1.2.3-rc.1+build.5"],
  ...["1.2.3+build", "9007199254740991.0.0", `1.2.3-${"a".repeat(122)}`],
])("takes %s as a version, unchanged", (text) => {
  expect(parseVersion(text)).toBe(text);
});

test.each([
  ...["", "1", "1.2", "v1.2.3", "=1.2.3", "1.2.3.4", "01.2.3", "1.2.3-"],
  ...["1.2.3-01", " 1.2.3", "1.2.3 ", "1.2.3\n", "1.2.3-a/b", "1.2.3-ä"],
  ...["1.2.3-a_b", "../1.2.3", "9007199254740992.0.0"],
  `1.2.3-${"a".repeat(123)}`,
])("refuses %j as a version", (text) => {
  expect(() => parseVersion(text)).toThrow(failing("malformed-address"));
});

test("sorts oldest first, prereleases before their release", () => {
  // The first seven are the example of Semantic Versioning 2.0.0, clause 11.4.
  const ordered = [
    ...["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2"],
    ...["1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.0+1", "1.9.0", "1.10.0"],
  ].map(parseVersion);
  expect(ordered.toReversed().sort(compareVersions)).toEqual(ordered);
});

test("sorts many versions as it compares two", () => {
  const parts = fc.constantFrom("0", "1", "2", "10");
  const rest = fc.constantFrom("", "-a", "-a.1", "-b", "+1", "+01", "-a+1");
  const version = fc
    .tuple(parts, parts, parts, rest)
    .map(([major, minor, patch, end]) =>
      parseVersion(`${major}.${minor}.${patch}${end}`),
    );
  fc.assert(
    fc.property(fc.array(version), (versions) => {
      const compared = versions.toSorted((a, b) => compareVersions(b, a));
      expect(newestFirst(versions)).toEqual(compared);
    }),
  );
});
