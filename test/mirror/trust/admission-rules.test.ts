import { describe, expect, it } from "vitest";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { parseVersionConstraint } from "../../../src/address/version-constraint.ts";
import { PolicyDenied } from "../../../src/errors/index.ts";
import {
  admitElsewhere,
  admitProvider,
  admitVersion,
  decideReleaseKey,
  limitsKeys,
  takesKeys,
  type AdmissionRules,
  type PolicyRefusal,
} from "../../../src/mirror/trust/admission-rules.ts";
import { parseProviderPattern } from "../../../src/address/policy-pattern.ts";
import {
  parsePolicy,
  type PolicySettings,
} from "../../../src/mirror/trust/policy.ts";
import {
  requestVersion,
  requestVersions,
  type ProviderRequest,
} from "../../../src/mirror/trust/request.ts";
import { believe } from "../../scenes/believed-releases.ts";
import {
  key,
  later,
  list,
  provider,
  since,
  trustOf,
} from "../../scenes/key-questions.ts";

const match = "registry.terraform.io/acme/*";
const address = { provider, version: later };

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
    if (error instanceof PolicyDenied) return error.rule;
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
      outcome(() => admitVersion(rules, address)),
      outcome(() => admitElsewhere(rules, provider)),
    ]).toEqual([ofProvider, ofVersion, elsewhere]);
  });

  it("say with a version that they admit how old it must be, and who asks that", () => {
    const rules = rulesOf({ minimumAge: 5 });
    expect(admitVersion(rules, address)).toMatchObject({
      action: "allow",
      minimumAge: 5,
      minimumAgeRule: "policy.minimumAge",
    });
  });
});

const revoked = trustOf(
  {},
  {
    keys: [{ fingerprint: "R", decision: "revoked", at: since }],
  },
);

it("a policy that only reports admits, and tells each refusal", () => {
  const told: string[] = [];
  const report = ({ rule }: PolicyRefusal) => told.push(rule);
  const rules = { ...rulesOf({ default: "deny" }), report };
  expect(outcome(() => admitProvider(rules, provider))).toBe("admitted");
  expect(outcome(() => admitVersion(rules, address))).toBe("admitted");
  expect(told).toEqual(["policy.default", "policy.default"]);
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
    ["accept", [], true, false],
    ["accept-first", [], true, false],
    ["refuse", [], false, true],
    ["refuse", pinned("K"), true, true],
    ["accept-first", pinned("K"), true, true],
    ["accept-first", pinned("K", "registry.terraform.io/other/*"), true, false],
    ["refuse", pinned("K", "registry.terraform.io/other/*"), false, true],
  ] as const)(
    "with newKeys: %s and pins %j",
    (newKeys, pins, takes, limits) => {
      const rules = rulesOf({}, { newKeys, pins });
      expect(takesKeys(rules, provider)).toBe(takes);
      expect(limitsKeys(rules, provider, trustOf())).toBe(limits);
    },
  );

  it("are limited by what an operator revoked, for the provider that it is for", () => {
    const other = providerAddress("registry.terraform.io", "acme", "other");
    const forThing = trustOf(
      {},
      {
        keys: [
          { fingerprint: "R", decision: "revoked", type: "thing", at: since },
        ],
      },
    );
    expect(limitsKeys(rulesOf(), provider, revoked)).toBe(true);
    expect(limitsKeys(rulesOf(), provider, forThing)).toBe(true);
    expect(limitsKeys(rulesOf(), other, forThing)).toBe(false);
  });
});

describe("the key of a later release", async () => {
  const byK = await believe({ signedBy: "K" });
  const byR = await believe({ signedBy: "R" });
  const byNobody = await believe({});
  const off = {
    ...byNobody,
    checksums: { ...byNobody.checksums, exemption: "signatures-off" as const },
  };
  const knownK = trustOf({ keys: [key("K", "provider")] });

  it.each([
    ["known", rulesOf(), byK, knownK, "yes: known"],
    [
      "unknown",
      rulesOf(),
      byK,
      trustOf({ keys: [key("L", "provider")] }),
      "no: unknown",
    ],
    [
      "unknown, where any is taken",
      rulesOf({}, { newKeys: "accept" }),
      byK,
      trustOf({ keys: [key("L", "provider")] }),
      "yes: new",
    ],
    [
      "pinned",
      rulesOf({}, { pins: pinned("K") }),
      byK,
      trustOf(),
      "yes: pinned",
    ],
    [
      "pinned out, though known",
      rulesOf({}, { pins: pinned("L") }),
      byK,
      knownK,
      "no: not-pinned",
    ],
    [
      "pinned by one of two rules",
      rulesOf({}, { pins: [...pinned("L"), ...pinned("K")] }),
      byK,
      trustOf(),
      "yes: pinned",
    ],
    [
      "known, where only pins count",
      rulesOf({}, { newKeys: "refuse" }),
      byK,
      knownK,
      "no: not-pinned",
    ],
    [
      "revoked, though pinned",
      rulesOf({}, { pins: pinned("R") }),
      byR,
      revoked,
      "no: revoked",
    ],
    [
      "nobody's, where keys are known",
      rulesOf(),
      byNobody,
      knownK,
      "no: unknown",
    ],
    [
      "nobody's, where signatures are off",
      rulesOf(),
      off,
      knownK,
      "yes: known",
    ],
    [
      "nobody's, where signatures are off and a key is pinned",
      rulesOf({}, { pins: pinned("K") }),
      off,
      knownK,
      "no: not-pinned",
    ],
    [
      "nobody's, where signatures are off and new keys are refused",
      rulesOf({}, { newKeys: "refuse" }),
      off,
      knownK,
      "no: not-pinned",
    ],
  ] as const)("%s", (_, rules, release, trust, expected) => {
    const verdict = decideReleaseKey(rules, address, release, list, trust);
    expect(`${verdict.accepted ? "yes" : "no"}: ${verdict.because}`).toBe(
      expected,
    );
  });
});
