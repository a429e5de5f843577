import fc from "../../seeded.ts";
import { expect, test } from "vitest";
import { parseProviderAddress } from "../../../src/address/provider-address.ts";
import { parseVersionConstraint } from "../../../src/address/version-constraint.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { explainPolicy } from "../../../src/mirror/trust/policy-explanation.ts";
import {
  decideByRules,
  findProviderDenial,
  parsePolicy,
} from "../../../src/trust/policy.ts";

const day = 86_400_000;
const random = parseProviderAddress("hashicorp/random");
const mixed = parsePolicy({
  default: "allow",
  minimumAge: 3 * day,
  rules: [
    { match: "*/acme/*", action: "deny" },
    {
      match: "*/hashicorp/*",
      action: "deny",
      versions: parseVersionConstraint("< 2"),
    },
    {
      match: "*/hashicorp/*",
      action: "allow",
      versions: parseVersionConstraint(">= 3"),
      minimumAge: 36 * 3_600_000 * 10,
    },
  ],
});

test("says rule by rule why a version is denied", () => {
  expect(explainPolicy(mixed, random, parseVersion("1.0.0"))).toEqual({
    verdict: "denied",
    rule: "policy.rules[1]",
    minimumAge: 3 * day,
    sentences: [
      "policy.rules[0] (deny */acme/*) is about other providers.",
      "policy.rules[1] (deny */hashicorp/*, versions < 2.0.0) decides.",
      "registry.terraform.io/hashicorp/random 1.0.0 is denied by policy.rules[1].",
    ],
  });
});

test("says where the minimum age of a prerelease comes from", () => {
  expect(explainPolicy(mixed, random, parseVersion("3.1.0-rc1"))).toEqual({
    verdict: "allowed",
    rule: "policy.default",
    minimumAge: 15 * day,
    sentences: [
      "policy.rules[0] (deny */acme/*) is about other providers.",
      "policy.rules[1] (deny */hashicorp/*, versions < 2.0.0) is about other versions than 3.1.0-rc1.",
      "policy.rules[2] (allow */hashicorp/*, versions >= 3.0.0) does not allow 3.1.0-rc1, which it covers without naming it, but its minimum age holds.",
      "registry.terraform.io/hashicorp/random 3.1.0-rc1 is allowed by policy.default, once it is 15d old (policy.rules[2].minimumAge).",
    ],
  });
});

test("says that it depends on the version, and what holds for the rest", () => {
  expect(explainPolicy(mixed, random)).toEqual({
    verdict: "depends",
    rule: undefined,
    minimumAge: undefined,
    sentences: [
      "policy.rules[0] (deny */acme/*) is about other providers.",
      "policy.rules[1] (deny */hashicorp/*, versions < 2.0.0) decides for its versions.",
      "policy.rules[2] (allow */hashicorp/*, versions >= 3.0.0) decides for its versions.",
      "Every other version of registry.terraform.io/hashicorp/random is allowed by policy.default, once it is 3d old (policy.minimumAge).",
    ],
  });
});

test("says that a whole provider is denied or allowed", () => {
  const acme = parseProviderAddress("acme/thing");
  expect(explainPolicy(mixed, acme)).toMatchObject({
    verdict: "denied",
    rule: "policy.rules[0]",
    sentences: [
      "policy.rules[0] (deny */acme/*) decides for every version that is left.",
      "Every version of registry.terraform.io/acme/thing is denied by policy.rules[0].",
    ],
  });
  const open = parsePolicy({ default: "allow", minimumAge: 0, rules: [] });
  expect(explainPolicy(open, acme).sentences).toEqual([
    "Every version of registry.terraform.io/acme/thing is allowed by policy.default.",
  ]);
});

const below2 = parseVersionConstraint("< 2");
const hashicorp = "*/hashicorp/*";

test.each([
  [
    "not on a rule about versions of others",
    [{ match: "*/acme/*", action: "deny", versions: below2 }],
    "allowed",
  ],
  [
    "not on a rule that allows every version",
    [{ match: hashicorp, action: "allow" }],
    "allowed",
  ],
  [
    "not on a rule about versions before one that denies the rest, too",
    [
      { match: hashicorp, action: "deny", versions: below2 },
      { match: hashicorp, action: "deny" },
    ],
    "denied",
  ],
  [
    "on a rule about its versions",
    [{ match: hashicorp, action: "deny", versions: below2 }],
    "depends",
  ],
] as const)("what holds for a provider depends %s", (_what, rules, verdict) => {
  const policy = parsePolicy({ default: "allow", minimumAge: 0, rules });
  expect(explainPolicy(policy, random).verdict).toBe(verdict);
});

const rule = fc.record({
  match: fc.constantFrom("*/*/*", "*/hashicorp/*", "*/acme/*"),
  action: fc.constantFrom("allow" as const, "deny" as const),
  versions: fc.option(
    fc
      .constantFrom(">= 2", "< 2", "2.0.0", "!= 2.0.0", "2.0.0-rc1", "~> 2.0")
      .map(parseVersionConstraint),
    { nil: undefined },
  ),
  minimumAge: fc.option(fc.constantFrom(0, 1000, day), { nil: undefined }),
});
const settings = fc.record({
  default: fc.constantFrom("allow" as const, "deny" as const),
  minimumAge: fc.constantFrom(0, day),
  rules: fc.array(rule, { maxLength: 5 }),
});
const probes = "1.0.0 1.0.0-rc1 2.0.0 2.0.0-rc1 2.0.0+b 2.1.0-rc1 3.0.0"
  .split(" ")
  .map(parseVersion);

test("never says anything but what is decided", () => {
  fc.assert(
    fc.property(settings, fc.constantFrom(...probes), (written, version) => {
      const policy = parsePolicy(written);
      const { action, rule, minimumAge } = decideByRules(
        policy,
        random,
        version,
      );
      const said = explainPolicy(policy, random, version);
      expect(said).toMatchObject({
        rule,
        minimumAge,
        verdict: action === "allow" ? "allowed" : "denied",
      });
      if (rule !== "policy.default")
        expect(said.sentences.at(-2)).toMatch(/^(.*) decides\.$/);
      const decides = said.sentences.filter((sentence) =>
        sentence.endsWith(" decides."),
      );
      expect(decides).toHaveLength(rule === "policy.default" ? 0 : 1);
    }),
    { numRuns: 2000 },
  );
});

test("a provider that is denied wholly has no version that is allowed, and says so", () => {
  fc.assert(
    fc.property(settings, (written) => {
      const policy = parsePolicy(written);
      const denial = findProviderDenial(policy, random);
      const said = explainPolicy(policy, random);
      const decisions = probes.map((version) =>
        decideByRules(policy, random, version),
      );
      if (denial !== undefined) {
        expect(said).toMatchObject({ verdict: "denied", rule: denial.rule });
        expect(decisions.map(({ action }) => action)).not.toContain("allow");
      } else expect(said.verdict).not.toBe("denied");
      if (said.verdict === "allowed")
        expect(
          decisions.every(
            ({ action, rule }) => action === "allow" && rule === said.rule,
          ),
        ).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
