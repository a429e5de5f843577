import { describe, expect, it } from "vitest";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { parseVersionConstraint } from "../../../src/address/version-constraint.ts";
import { isFailure } from "../../../src/errors/index.ts";
import {
  admitElsewhere,
  admitProvider,
  admitVersion,
  keyRulesOf,
  limitsKeys,
  type AdmissionRules,
  type PolicyRefusal,
} from "../../../src/mirror/trust/admission-rules.ts";
import { parseProviderPattern } from "../../../src/address/policy-pattern.ts";
import { parsePolicy, type PolicySettings } from "../../../src/trust/policy.ts";
import {
  requestVersion,
  requestVersions,
  type ProviderRequest,
} from "../../../src/mirror/trust/request.ts";
import { address } from "../../scenes/believed-releases.ts";
import { keyDecision, namespace } from "../../trust/releases.ts";

const { provider } = address;
const later = parseVersion("2.0.0");
const match = "registry.terraform.io/acme/*";
const release = { provider, version: later };

function rulesOf(
  policy: Partial<PolicySettings> = {},
  trust: Partial<Pick<AdmissionRules, "newKeys" | "pins">> = {},
): AdmissionRules {
  return {
    offline: false,
    newKeys: "accept-first",
    pins: [],
    policy: parsePolicy({
      default: "allow",
      minimumAge: 0,
      rules: [],
      ...policy,
    }),
    ...trust,
  };
}

const pinned = (fingerprint: string, pattern = match) => [
  { pattern: parseProviderPattern(pattern), fingerprints: [fingerprint] },
];

const outcome = (act: () => unknown) => {
  try {
    act();
    return "admitted";
  } catch (error) {
    if (isFailure(error, "policy-denied")) return error.rule;
    throw error;
  }
};

const versions = parseVersionConstraint(">= 2.0.0");

describe("the rules", () => {
  it.each<readonly [string, Partial<PolicySettings>, readonly string[]]>([
    ["that allow all", {}, ["admitted", "admitted", "admitted"]],
    [
      "that deny all",
      { default: "deny" },
      ["policy.default", "policy.default", "admitted"],
    ],
    [
      "that deny the provider",
      { rules: [{ match, action: "deny" }] },
      ["policy.rules[0]", "policy.rules[0]", "policy.rules[0]"],
    ],
    [
      "that deny the version",
      { rules: [{ match, action: "deny", versions }] },
      ["admitted", "policy.rules[0]", "admitted"],
    ],
    [
      "that allow the version alone",
      { default: "deny", rules: [{ match, action: "allow", versions }] },
      ["admitted", "admitted", "admitted"],
    ],
    [
      "that deny another provider",
      { rules: [{ match: "registry.terraform.io/other/*", action: "deny" }] },
      ["admitted", "admitted", "admitted"],
    ],
  ])("%s", (_, policy, [ofProvider, ofVersion, elsewhere]) => {
    const rules = rulesOf(policy);
    expect([
      outcome(() => admitProvider(rules, provider)),
      outcome(() => admitVersion(rules, release)),
      outcome(() => admitElsewhere(rules, provider)),
    ]).toEqual([ofProvider, ofVersion, elsewhere]);
  });

  it("say with a version that they admit how old it must be, and who asks that", () => {
    const rules = rulesOf({ minimumAge: 5 });
    expect(admitVersion(rules, release)).toMatchObject({
      action: "allow",
      minimumAge: 5,
      minimumAgeRule: "policy.minimumAge",
    });
  });
});

it("a policy that only reports admits, and tells each refusal", () => {
  const reportedRules: string[] = [];
  const report = ({ rule }: PolicyRefusal) => reportedRules.push(rule);
  const rules = { ...rulesOf({ default: "deny" }), report };
  expect(outcome(() => admitProvider(rules, provider))).toBe("admitted");
  expect(outcome(() => admitVersion(rules, release))).toBe("admitted");
  expect(reportedRules).toEqual(["policy.default", "policy.default"]);
});

it.each([
  ["allows", { default: "allow" }, false, ["2.0.0"], []],
  ["denies", { default: "deny" }, false, [], ["2.0.0"]],
  ["would deny", { default: "deny" }, true, ["2.0.0"], ["2.0.0"]],
] as const)(
  "of the versions that a policy %s, some are asked for and some are left out",
  (_does, policy, isReporting, asked, left) => {
    const rules = {
      ...rulesOf(policy),
      ...(isReporting && { report: () => undefined }),
    };
    const request = { rules, provider } as ProviderRequest;
    const { allowed, denied } = requestVersions(request, [later]);
    expect(allowed.map((one) => one.address.version)).toEqual(asked);
    expect(denied.map(({ version }) => version)).toEqual(left);
    expect(requestVersion(request, later)?.address.version).toBe(asked[0]);
  },
);

describe("keys", () => {
  it.each([
    ["accept", [], undefined, false],
    ["accept-first", [], undefined, false],
    ["refuse", [], undefined, true],
    ["refuse", pinned("K"), ["K"], true],
    ["accept-first", pinned("K"), ["K"], true],
    ["accept-first", [...pinned("L"), ...pinned("K")], ["L", "K"], true],
    [
      "accept-first",
      pinned("K", "registry.terraform.io/other/*"),
      undefined,
      false,
    ],
    ["refuse", pinned("K", "registry.terraform.io/other/*"), undefined, true],
  ] as const)(
    "with newKeys: %s and pins %j are pinned to %j",
    (newKeys, pins, fingerprints, limits) => {
      const rules = rulesOf({}, { newKeys, pins });
      expect(keyRulesOf(rules, provider)).toEqual({
        newKeys,
        pins: fingerprints && new Set(fingerprints),
      });
      expect(limitsKeys(rules, provider, namespace())).toBe(limits);
    },
  );

  it("are limited by revocations of operators, for the provider that they are for", () => {
    const other = providerAddress("registry.terraform.io", "acme", "other");
    const revoke = (type: string | null) =>
      namespace({
        decisions: {
          keys: [keyDecision("R", "revoked", { type })],
          contents: [],
        },
      });
    const approved = namespace({
      decisions: { keys: [keyDecision("R", "approved")], contents: [] },
    });
    expect(limitsKeys(rulesOf(), provider, revoke(null))).toBe(true);
    expect(limitsKeys(rulesOf(), provider, revoke("thing"))).toBe(true);
    expect(limitsKeys(rulesOf(), other, revoke("thing"))).toBe(false);
    expect(limitsKeys(rulesOf(), provider, approved)).toBe(false);
  });
});
