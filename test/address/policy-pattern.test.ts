import fc from "../seeded.ts";
import { expect, test } from "vitest";
import { parseProviderAddress } from "../../src/address/provider-address.ts";
import { failing } from "../scenes/failing.ts";
import {
  isMatch,
  parseProviderPattern,
} from "../../src/address/policy-pattern.ts";

function matches(pattern: string, provider: string): boolean {
  return isMatch(parseProviderPattern(pattern), parseProviderAddress(provider));
}

/** Pattern, providers that it matches, providers that it does not. */
const meanings: readonly [string, string, string][] = [
  [
    "a.io/b/c",
    "a.io/b/c",
    "a.io/b/cc a.io/bb/c aa.io/b/c a.io/b/d a.io:8443/b/c",
  ],
  ["*/*/*", "a.io/b/c a.io:8443/b-d/c", ""],
  ["a.io/b/*", "a.io/b/c a.io/b/d", "a.io/bc/c b.a.io/b/c"],
  ["*.io/*b/c", "a.io/b/c a.b.io/xb/c", "a.iox/b/c a.io/bx/c"],
  ["a.io:443/b/c", "a.io/b/c", "a.io:8443/b/c"],
  ["a.io:8443/b/c", "a.io:8443/b/c", "a.io/b/c"],
  ["*:443/b/c", "a.io/b/c", "a.io:8443/b/c"],
  ["a.io:*/b/c", "a.io/b/c a.io:8443/b/c", "b.io/b/c"],
];

test.each(meanings)(
  "a star stands for any text inside its part: %s",
  (...row) => {
    const [pattern, matched, others] = row;
    for (const provider of matched.split(" "))
      expect.soft(matches(pattern, provider), provider).toBe(true);
    for (const provider of others.split(" ").filter(Boolean))
      expect.soft(matches(pattern, provider), provider).toBe(false);
  },
);

test("agrees with the regular expression that says the same", () => {
  const of = (...letters: readonly string[]) =>
    fc.string({
      unit: fc.constantFrom(...letters),
      minLength: 1,
      maxLength: 9,
    });
  fc.assert(
    fc.property(of("a", "b", "*"), of("a", "b"), (pattern, type) => {
      const same = new RegExp(`^${pattern.replaceAll("*", ".*")}$`);
      expect(matches(`h.io/n/${pattern}`, `h.io/n/${type}`)).toBe(
        same.test(type),
      );
    }),
    { numRuns: 2000 },
  );
});

test("decides at once on a pattern that makes a regular expression go back for ever", () => {
  const pattern = parseProviderPattern(`h.io/n/${"a*".repeat(5000)}b`);
  const provider = parseProviderAddress(`h.io/n/${"a".repeat(64)}`);
  for (let count = 0; count < 1000; count++)
    expect(isMatch(pattern, provider)).toBe(false);
});

test.each([
  ...["", "*", "a/b", "a/b/c/d", "a//c", "A.io/b/c", "a.io/b /c", "a.io/b/c\n"],
  ...["a.io/b/c_d", "a.io/b_/c", "a.io/-b/c", "a..io/b/c", "-a.io/b/c"],
  ...["a.io:0/b/c", "a.io:99999/b/c"],
])("refuses %j", (text) => {
  expect(() => parseProviderPattern(text)).toThrow(
    failing("malformed-address"),
  );
});
