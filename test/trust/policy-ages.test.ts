import { expect, it } from "vitest";
import { parseProviderAddress } from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import { parseVersionConstraint } from "../../src/address/version-constraint.ts";
import {
  decideByRules,
  isAgeing,
  parsePolicy,
} from "../../src/trust/policy.ts";

const random = parseProviderAddress("hashicorp/random");
const rule = (match: string, minimumAge?: number, versions?: string) => ({
  action: "allow" as const,
  ...{ match, minimumAge },
  versions:
    versions === undefined ? undefined : parseVersionConstraint(versions),
});

it.each([
  ["not without an age", [], 0, false],
  ["by the age for all", [], 9, true],
  ["by the shortest age", [], 1, true],
  ["by a rule's age", [rule("*/*/*", 1)], 0, true],
  [
    "by one rule of several",
    [rule("*/*/*", 0), rule("*/*/*", 9, "< 2")],
    0,
    true,
  ],
  ["not by a rule without one", [rule("*/*/*")], 0, false],
  ["not by a rule for others", [rule("*/acme/*", 9)], 0, false],
])("a version may have to be of an age, %s", (_, rules, minimumAge, is) => {
  const policy = parsePolicy({ default: "allow", minimumAge, rules });
  expect(isAgeing(policy, random)).toBe(is);
});

it("of two rules that ask for the same age, the one that decides is named", () => {
  const rules = [rule("*/*/*", 9, "< 2")];
  const policy = parsePolicy({ default: "allow", minimumAge: 9, rules });
  expect(
    decideByRules(policy, random, parseVersion("1.1.0-rc1")).minimumAgeRule,
  ).toBe("policy.minimumAge");
});
