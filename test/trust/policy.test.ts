import { describe, expect, test } from "vitest";
import { moduleAddress } from "../../src/address/module-address.ts";
import { parsePattern } from "../../src/address/policy-pattern.ts";
import { parseProviderAddress } from "../../src/address/provider-address.ts";
import { parseVersionConstraint } from "../../src/address/version-constraint.ts";
import { parseVersion } from "../../src/address/version.ts";
import {
  decideByRules,
  findProviderDenial,
  parsePolicy,
  type PolicySettings,
} from "../../src/trust/policy.ts";

const day = 86_400_000;
const random = parseProviderAddress("hashicorp/random");

/** What holds for all, `deny` or a minimum age, and rules as `ACTION PATTERN [VERSIONS] [DAYSd]; …`. */
function policyOf(all: string, text: string) {
  const rules = text.split("; ").filter((rule) => rule !== "");
  return parsePolicy({
    default: all === "deny" ? "deny" : "allow",
    minimumAge: (parseInt(all) || 0) * day,
    rules: rules.map((rule) => {
      const [, action, match = "", versions, days] =
        /^(\w+) (\S+)(?: (.*?))??(?: (\d+)d)?$/.exec(rule) ?? [];
      return {
        action: action === "deny" ? "deny" : "allow",
        match: parsePattern(match),
        versions: versions && parseVersionConstraint(versions),
        minimumAge: days && Number(days) * day,
      } as PolicySettings["rules"][number];
    }),
  });
}

const ranged = "allow */*/* >= 3 30d";
const ordered =
  "deny registry.terraform.io/acme/*; allow registry.terraform.io/hashicorp/ran* < 2 2d; deny */hashicorp/*; allow */*/*";

/** What holds for all, the rules, a version, and what is decided by which lines. */
test.each(
  Object.entries({
    "the default holds when there is no rule":
      "3d |  | 1.0.0 | allow default 3d minimumAge",
    "the default may deny": "deny |  | 1.0.0 | deny default",
    "a rule without versions is for prereleases, too":
      "deny | allow */*/* | 2.1.0-rc1 | allow rules[0] 0d minimumAge",
    "the first rule that matches wins over all later ones": `0d | ${ordered} | 1.0.0 | allow rules[1] 2d rules[1].minimumAge`,
    "a rule for other versions decides nothing": `0d | ${ordered} | 2.0.0 | deny rules[2]`,
    "a rule without a minimum age inherits the policy's":
      "1d | allow */*/* < 2; allow */*/* < 3 0d | 1.0.0 | allow rules[0] 1d minimumAge",
    "and 0 lifts it":
      "1d | allow */*/* < 2; allow */*/* < 3 0d | 2.0.0 | allow rules[1] 0d rules[1].minimumAge",
    "a prerelease does not escape the minimum age of its range by the default": `0d | ${ranged} | 3.1.0-beta1 | allow default 30d rules[0].minimumAge`,
    "nor by a later rule that names it with a lower one": `0d | ${ranged}; allow */*/* 3.1.0-beta1 0d | 3.1.0-beta1 | allow rules[1] 30d rules[0].minimumAge`,
    "but a rule before it that names it decides alone": `0d | allow */*/* 3.1.0-beta1 0d; ${ranged} | 3.1.0-beta1 | allow rules[0] 0d rules[0].minimumAge`,
    "the highest of several ranges holds": `0d | ${ranged}; allow */*/* >= 2 9d | 3.1.0-rc1 | allow default 30d rules[0].minimumAge`,
    "of two that are equal that of the line that decides":
      "9d | allow */*/* >= 2 9d | 3.1.0-rc1 | allow default 9d minimumAge",
    "a higher one of the last rule is included": `60d | ${ranged}; allow */*/* >= 2 9d | 3.1.0-rc1 | allow default 60d minimumAge`,
    "a prerelease outside of the range does not have its age": `0d | ${ranged} | 2.0.0-rc1 | allow default 0d minimumAge`,
  }),
)("%s", (_, text) => {
  const [all = "", rules = "", version = "", told] = text.split(" | ");
  const policy = policyOf(all, rules);
  const decided = decideByRules(policy, random, parseVersion(version));
  const { action, rule, minimumAge, minimumAgeRule } = decided;
  const said = [action, rule, `${minimumAge / day}d ${minimumAgeRule}`];
  if (action === "deny") said.pop();
  expect(said.join(" ").replaceAll("policy.", "")).toBe(told);
});

/** What a rule that denies a range takes, and what it lets pass: it also takes the prereleases and builds in its range. */
const denials = {
  ">= 3.0": "3.0.0 3.1.0-beta1 3.0.0-beta1 3.0.0+b 4.0.0-rc1 | 2.9.9 2.9.9-rc1",
  "> 3.0.0": "3.0.1-rc1 3.0.1 | 3.0.0 3.0.0-rc1 3.0.0+b",
  "< 3.0": "2.9.9 2.9.9-rc1 3.0.0-rc1 | 3.0.0 3.0.1-rc1",
  "<= 3.0": "3.0.0 3.0.0-rc1 3.0.0+b | 3.0.1 3.0.1-rc1",
  "~> 3.1": "3.1.0 3.1.0-rc1 3.9.0-rc1 | 3.0.9 4.0.0",
  "~> 3.1.0": "3.1.5-rc1 3.1.0-rc1 | 3.2.0 3.0.9-rc1",
  ">= 3.0, < 4.0": "3.0.0-rc1 3.5.0-rc1 3.5.0 | 4.0.0 4.0.1-rc1 2.0.0-rc1",
  ">= 3.0, != 3.0.0": "3.0.0-rc1 3.0.1 3.0.0+b | 3.0.0 2.0.0",
  "3.0.0": "3.0.0 3.0.0+b | 3.0.0-rc1 3.0.1",
  "3.0.0+a": "3.0.0+a | 3.0.0 3.0.0+b",
  "3.0.0-rc1": "3.0.0-rc1 3.0.0-rc1+b | 3.0.0 3.0.0-rc2",
  ">= 3.0.0-beta2": "3.0.0-beta2 3.0.0-rc1 3.0.0 3.1.0-alpha | 3.0.0-beta1",
  "!= 1.5.0": "1.4.0 1.5.0-rc1 1.5.0+b 1.6.0-rc1 | 1.5.0",
  "!= 1.5.0+a": "1.5.0 1.5.0+b | 1.5.0+a",
};

/** What a rule that allows a range lets in, which is what Terraform would select, and what it does not. */
const admissions = {
  ">= 3.0": "3.0.0 3.1.0 3.1.0+b | 3.1.0-beta1 3.0.0-beta1 2.9.9",
  "< 3.0": "2.9.9 | 3.0.0-rc1 2.9.9-rc1 3.0.0",
  "3.1.0-beta1": "3.1.0-beta1 | 3.1.0-beta2 3.1.0 3.1.0-beta1+b",
  "3.0.0": "3.0.0 | 3.0.0+b 3.0.0-rc1",
  "!= 1.5.0": "1.4.0 1.6.0 | 1.5.0 1.5.0+b 1.5.0-rc1 1.6.0-rc1",
  "!= 1.5.0+a": "1.5.0 1.5.0+b | 1.5.0+a",
  "< 2.0, != 1.5.0": "1.4.0 1.4.0+b | 1.5.0 1.5.0+b 2.0.0",
};

describe.each([
  ["deny", "allow", denials],
  ["allow", "deny", admissions],
])("a rule may %s a range", (action, otherwise, rows) => {
  test.each(Object.entries(rows))("%s", (range, versions) => {
    const policy = policyOf(otherwise, `${action} */*/* ${range}`);
    const [taken, left] = versions.split(" | ").map((names) =>
      names.split(" ").map((name) => {
        const version = parseVersion(name);
        return [name, decideByRules(policy, random, version).action];
      }),
    );
    expect(taken).toEqual(taken?.map(([name]) => [name, action]));
    expect(left).toEqual(left?.map(([name]) => [name, otherwise]));
  });
});

test.each(
  Object.entries({
    "by a rule without versions that every version reaches":
      "0d | allow */acme/*; deny */*/random >= 3; deny */hashicorp/*; allow */*/* | policy.rules[2]",
    "by the default": "deny | deny */*/random < 3 | policy.default",
    "not where an earlier rule allows some versions":
      "0d | allow */*/random < 3; deny */*/* | ",
    "not by a rule for some versions, nor by one for others":
      "0d | deny */*/random < 3; deny */acme/* | ",
  }),
)("a provider is denied wholly %s", (_, text) => {
  const [all = "", rules = "", told] = text.split(" | ");
  const denial = findProviderDenial(policyOf(all, rules), random);
  expect(denial?.rule ?? "").toBe(told);
});

test.each([
  ["the age for all, which is of providers, is none of it", "", 0],
  ["a rule for it gives it an age", "allow */*/*/* 1d", 1],
  ["the first rule for it counts", "allow */*/*/* < 2 9d; allow */*/*/*", 9],
  ["a rule for other versions gives it none", "allow */*/*/* >= 2 9d", 0],
  ["a rule without one gives it none", "allow */*/*/*", 0],
  ["rules for others give it none", "allow */other/*/* 9d; allow */*/* 9d", 0],
])("of a version of a module: %s", (_, rules, days) => {
  const network = moduleAddress("example.com", "acme", "network", "aws");
  const policy = policyOf("9d", rules);
  const decided = decideByRules(policy, network, parseVersion("1.0.0"));
  expect(decided.minimumAge).toBe(days * day);
});
