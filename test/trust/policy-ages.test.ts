import { expect, it } from "vitest";
import { moduleAddress } from "../../src/address/module-address.ts";
import { parseProviderAddress } from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import { parseVersionConstraint } from "../../src/address/version-constraint.ts";
import { decideByRules, parsePolicy } from "../../src/trust/policy.ts";

const random = parseProviderAddress("hashicorp/random");
const rule = (match: string, minimumAge?: number, versions?: string) => ({
  action: "allow" as const,
  ...{ match, minimumAge },
  versions:
    versions === undefined ? undefined : parseVersionConstraint(versions),
});

const network = moduleAddress("example.com", "acme", "network", "aws");

it.each([
  ["not by the age for all, which is of providers", [], 9, 0],
  ["by a rule's age", [rule("*/*/*/*", 1)], 9, 1],
  [
    "by one rule of several",
    [rule("*/*/*/*", 9, "< 2"), rule("*/*/*/*")],
    0,
    9,
  ],
  ["not by a rule without one", [rule("*/*/*/*")], 9, 0],
  [
    "not by a rule for others",
    [rule("*/other/*/*", 9), rule("*/*/*", 9)],
    9,
    0,
  ],
])(
  "a version of a module may have to be of an age, %s",
  (_, rules, all, age) => {
    const policy = parsePolicy({ default: "allow", minimumAge: all, rules });
    expect(
      decideByRules(policy, network, parseVersion("1.0.0")).minimumAge,
    ).toBe(age);
  },
);

it("of two rules that ask for the same age, the one that decides is named", () => {
  const rules = [rule("*/*/*", 9, "< 2")];
  const policy = parsePolicy({ default: "allow", minimumAge: 9, rules });
  expect(
    decideByRules(policy, random, parseVersion("1.1.0-rc1")).minimumAgeRule,
  ).toBe("policy.minimumAge");
});
