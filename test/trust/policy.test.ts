import { describe, expect, test } from "vitest";
import { moduleAddress } from "../../src/address/module-address.ts";
import { parseProviderAddress } from "../../src/address/provider-address.ts";
import { parseVersionConstraint } from "../../src/address/version-constraint.ts";
import { parseVersion } from "../../src/address/version.ts";
import { failing } from "../scenes/failing.ts";
import {
  decideByRules,
  findProviderDenial,
  parsePolicy,
  readRule,
  type PolicySettings,
} from "../../src/trust/policy.ts";

const day = 86_400_000;
const random = parseProviderAddress("hashicorp/random");

function policyOf(
  rules: readonly (readonly [
    action: "allow" | "deny",
    match: string,
    versions?: string | undefined,
    minimumAge?: number | undefined,
  ])[],
  settings: Partial<PolicySettings> = {},
) {
  return parsePolicy({
    default: "allow",
    minimumAge: 0,
    ...settings,
    rules: rules.map(([action, match, versions, minimumAge]) => ({
      action,
      match,
      versions:
        versions === undefined ? undefined : parseVersionConstraint(versions),
      minimumAge,
    })),
  });
}

function decide(policy: ReturnType<typeof parsePolicy>, version: string) {
  return decideByRules(policy, random, parseVersion(version));
}

test.each([
  ["allow", "*/acme/*", undefined, "other-provider"],
  ["deny", "*/*/*", undefined, "decides"],
  ["allow", "*/*/*", undefined, "decides"],
  ["deny", "*/*/*", "< 2", "other-version"],
  ["deny", "*/*/*", ">= 2", "decides"],
  ["allow", "*/*/*", ">= 2", "age-only"],
  ["allow", "*/*/*", "2.1.0-rc1", "decides"],
] as const)(
  "to a prerelease, the rule to %s %s with versions %s says: %s",
  (action, match, versions, reading) => {
    const [rule] = policyOf([[action, match, versions]]).rules;
    const version = parseVersion("2.1.0-rc1");
    expect(rule && readRule(rule, random, version)).toBe(reading);
  },
);

describe("order", () => {
  test("the default holds when there is no rule", () => {
    expect(decide(policyOf([], { minimumAge: 3 * day }), "1.0.0")).toEqual({
      action: "allow",
      rule: "policy.default",
      minimumAge: 3 * day,
      minimumAgeRule: "policy.minimumAge",
      guidance: { because: undefined, contact: undefined },
    });
    const closed = policyOf([], { default: "deny" });
    expect(decide(closed, "1.0.0").action).toBe("deny");
  });

  test("the first rule that matches wins over all later ones", () => {
    const policy = policyOf([
      ["deny", "registry.terraform.io/acme/*"],
      ["allow", "registry.terraform.io/hashicorp/ran*", "< 2", 2 * day],
      ["deny", "*/hashicorp/*"],
      ["allow", "*/*/*"],
    ]);
    expect(decide(policy, "1.0.0")).toMatchObject({
      action: "allow",
      rule: "policy.rules[1]",
      minimumAge: 2 * day,
      minimumAgeRule: "policy.rules[1].minimumAge",
    });
    expect(decide(policy, "2.0.0")).toMatchObject({
      action: "deny",
      rule: "policy.rules[2]",
    });
  });

  test("a rule without a minimum age inherits the policy's, and 0 lifts it", () => {
    const policy = policyOf(
      [
        ["allow", "*/*/*", "< 2"],
        ["allow", "*/*/*", "< 3", 0],
      ],
      { minimumAge: day },
    );
    expect(decide(policy, "1.0.0")).toMatchObject({
      rule: "policy.rules[0]",
      minimumAge: day,
      minimumAgeRule: "policy.minimumAge",
    });
    expect(decide(policy, "2.0.0")).toMatchObject({
      minimumAge: 0,
      minimumAgeRule: "policy.rules[1].minimumAge",
    });
  });
});

/** Constraint of a denying rule, versions that it denies, versions that it lets pass. */
const denials: readonly [string, string, string][] = [
  [
    ">= 3.0",
    "3.0.0 3.1.0-beta1 3.0.0-beta1 3.0.0+b 4.0.0-rc1",
    "2.9.9 2.9.9-rc1",
  ],
  ["> 3.0.0", "3.0.1-rc1 3.0.1", "3.0.0 3.0.0-rc1 3.0.0+b"],
  ["< 3.0", "2.9.9 2.9.9-rc1 3.0.0-rc1", "3.0.0 3.0.1-rc1"],
  ["<= 3.0", "3.0.0 3.0.0-rc1 3.0.0+b", "3.0.1 3.0.1-rc1"],
  ["~> 3.1", "3.1.0 3.1.0-rc1 3.9.0-rc1", "3.0.9 4.0.0"],
  ["~> 3.1.0", "3.1.5-rc1 3.1.0-rc1", "3.2.0 3.0.9-rc1"],
  [">= 3.0, < 4.0", "3.0.0-rc1 3.5.0-rc1 3.5.0", "4.0.0 4.0.1-rc1 2.0.0-rc1"],
  [">= 3.0, != 3.0.0", "3.0.0-rc1 3.0.1 3.0.0+b", "3.0.0 2.0.0"],
  ["3.0.0", "3.0.0 3.0.0+b", "3.0.0-rc1 3.0.1"],
  ["3.0.0+a", "3.0.0+a", "3.0.0 3.0.0+b"],
  ["3.0.0-rc1", "3.0.0-rc1 3.0.0-rc1+b", "3.0.0 3.0.0-rc2"],
  [">= 3.0.0-beta2", "3.0.0-beta2 3.0.0-rc1 3.0.0 3.1.0-alpha", "3.0.0-beta1"],
  ["!= 1.5.0", "1.4.0 1.5.0-rc1 1.5.0+b 1.6.0-rc1", "1.5.0"],
  ["!= 1.5.0+a", "1.5.0 1.5.0+b", "1.5.0+a"],
];

describe("a denying rule also takes the prereleases and builds in its range", () => {
  for (const [versions, denied, passed] of denials)
    test(versions, () => {
      const policy = policyOf([["deny", "*/*/*", versions]]);
      for (const version of denied.split(" "))
        expect.soft(decide(policy, version).action, version).toBe("deny");
      for (const version of passed.split(" "))
        expect.soft(decide(policy, version).action, version).toBe("allow");
    });
});

/** Constraint of an allowing rule, versions that it lets in, versions that it does not. */
const admissions: readonly [string, string, string][] = [
  [">= 3.0", "3.0.0 3.1.0 3.1.0+b", "3.1.0-beta1 3.0.0-beta1 2.9.9"],
  ["< 3.0", "2.9.9", "3.0.0-rc1 2.9.9-rc1 3.0.0"],
  ["3.1.0-beta1", "3.1.0-beta1", "3.1.0-beta2 3.1.0 3.1.0-beta1+b"],
  ["3.0.0", "3.0.0", "3.0.0+b 3.0.0-rc1"],
  ["!= 1.5.0", "1.4.0 1.6.0", "1.5.0 1.5.0+b 1.5.0-rc1 1.6.0-rc1"],
  ["!= 1.5.0+a", "1.5.0 1.5.0+b", "1.5.0+a"],
  ["< 2.0, != 1.5.0", "1.4.0 1.4.0+b", "1.5.0 1.5.0+b 2.0.0"],
];

describe("an allowing rule lets in what Terraform would select", () => {
  for (const [versions, allowed, refused] of admissions)
    test(versions, () => {
      const policy = policyOf([["allow", "*/*/*", versions]], {
        default: "deny",
      });
      for (const version of allowed.split(" "))
        expect.soft(decide(policy, version).action, version).toBe("allow");
      for (const version of refused.split(" "))
        expect.soft(decide(policy, version).action, version).toBe("deny");
    });
});

describe("a prerelease does not escape the minimum age of its range", () => {
  const ranged = ["allow", "*/*/*", ">= 3", 30 * day] as const;

  test("when the default lets it in", () => {
    expect(decide(policyOf([ranged]), "3.1.0-beta1")).toMatchObject({
      action: "allow",
      rule: "policy.default",
      minimumAge: 30 * day,
      minimumAgeRule: "policy.rules[0].minimumAge",
    });
  });

  test("when a later rule names it with a lower one", () => {
    const policy = policyOf([ranged, ["allow", "*/*/*", "3.1.0-beta1", 0]]);
    expect(decide(policy, "3.1.0-beta1")).toMatchObject({
      rule: "policy.rules[1]",
      minimumAge: 30 * day,
    });
  });

  test("but a rule before it that names it decides alone", () => {
    const policy = policyOf([["allow", "*/*/*", "3.1.0-beta1", 0], ranged]);
    expect(decide(policy, "3.1.0-beta1").minimumAge).toBe(0);
  });

  test("and the highest of several holds, a higher one of the last rule included", () => {
    const rules = [ranged, ["allow", "*/*/*", ">= 2", 9 * day]] as const;
    expect(decide(policyOf(rules), "3.1.0-rc1").minimumAge).toBe(30 * day);
    const same = policyOf([["allow", "*/*/*", ">= 2", 9]], { minimumAge: 9 });
    expect(decide(same, "3.1.0-rc1").minimumAgeRule).toBe("policy.minimumAge");
    const later = policyOf(rules, { minimumAge: 60 * day });
    expect(decide(later, "3.1.0-rc1")).toMatchObject({
      minimumAge: 60 * day,
      minimumAgeRule: "policy.minimumAge",
    });
  });

  test("while versions outside of the range do not have it", () => {
    expect(decide(policyOf([ranged]), "2.0.0-rc1").minimumAge).toBe(0);
  });
});

describe("a provider is denied wholly", () => {
  const match = "registry.terraform.io/hashicorp/random";
  test("by a rule without versions that is reached by every version", () => {
    const policy = policyOf([
      ["allow", "*/acme/*"],
      ["deny", match, ">= 3"],
      ["deny", "*/hashicorp/*"],
      ["allow", "*/*/*"],
    ]);
    expect(findProviderDenial(policy, random)?.rule).toBe("policy.rules[2]");
  });

  test("by the default", () => {
    const policy = policyOf([["deny", match, "< 3"]], { default: "deny" });
    expect(findProviderDenial(policy, random)?.rule).toBe("policy.default");
  });

  test("but not when an earlier rule allows some versions", () => {
    const policy = policyOf([
      ["allow", match, "< 3"],
      ["deny", "*/*/*"],
    ]);
    expect(findProviderDenial(policy, random)).toBeUndefined();
  });

  test("and not by a rule for some versions, nor by one for others", () => {
    const policy = policyOf([
      ["deny", match, "< 3"],
      ["deny", "*/acme/*"],
    ]);
    expect(findProviderDenial(policy, random)).toBeUndefined();
  });
});

test("refuses a rule with a malformed pattern, rather than one that never matches", () => {
  expect(() => policyOf([["deny", "hashicorp/*"]])).toThrow(
    failing("malformed-address"),
  );
});

test.each([
  ["the age for all, which is of providers, is none of it", [], 0],
  ["a rule for it gives it an age", [["*/*/*/*", 1]], 1],
  ["the first rule for it counts", [["*/*/*/*", 9, "< 2"], ["*/*/*/*"]], 9],
  ["a rule for other versions gives it none", [["*/*/*/*", 9, ">= 2"]], 0],
  ["a rule without one gives it none", [["*/*/*/*"]], 0],
  [
    "rules for others give it none",
    [
      ["*/other/*/*", 9],
      ["*/*/*", 9],
    ],
    0,
  ],
] as const)("of a version of a module: %s", (_, rules, age) => {
  const network = moduleAddress("example.com", "acme", "network", "aws");
  const policy = policyOf(
    rules.map(([match, minimumAge, versions]) => [
      ...(["allow", match, versions, minimumAge] as const),
    ]),
    { minimumAge: 9 },
  );
  const decided = decideByRules(policy, network, parseVersion("1.0.0"));
  expect(decided.minimumAge).toBe(age);
});
