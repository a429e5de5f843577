import { expect, it } from "vitest";
import { parsePattern } from "../../../src/address/policy-pattern.ts";
import { failure } from "../../../src/errors/index.ts";
import { parseProviderAddress } from "../../../src/address/provider-address.ts";
import { parseVersionConstraint } from "../../../src/address/version-constraint.ts";
import { parseVersion } from "../../../src/address/version.ts";
import {
  formatQuestion,
  parseWhyPath,
  parseWhySpec,
  explainError,
  tellRule,
} from "../../../src/mirror/why/why.ts";
import { parsePolicy } from "../../../src/trust/policy.ts";
import { failing } from "../../scenes/failing.ts";

const host = "registry.terraform.io";
const hosts = { configured: new Set([host]), allowsOthers: true };

it.each([
  ["acme/demo", `${host}/acme/demo`, "provider"],
  ["a.test/acme/demo@1.0.0-b.1", "a.test/acme/demo/1.0.0-b.1", "provider"],
  ["acme/net/aws", `${host}/acme/net/aws`, "module"],
  [`${host}/acme/net/7@1.2.3`, `${host}/acme/net/7/1.2.3`, "module"],
])("a question is read as SPEC and as path alike: %s", (spec, path, kind) => {
  const question = parseWhySpec(spec, hosts);
  expect(question).toEqual(parseWhyPath(path));
  expect(Object.keys(question)).toContain(kind);
  expect(formatQuestion(question)).toBe(path);
});

it.each(["demo", "acme/demo@x", `${host}/a/b/c/d/1.0.0`, ""])(
  "a malformed question is refused: %s",
  (spec) => {
    expect(() => parseWhySpec(spec, hosts)).toThrow(
      failing("malformed-address"),
    );
  },
);

const untold = { because: undefined, contact: undefined };

it.each([
  [
    failure("policy-denied", "a/b/c", "1.0.0", "policy.rules[0]", untold),
    "refused",
  ],
  [failure("not-found", "a/b/c"), "absent"],
  [failure("origin-timeout", "https://a.test/", "its answer"), "failing"],
  [failure("record-unreadable", "canary/x", "canary"), "failing"],
  [failure("store-unusable", "/var/canary", "canary"), "failing"],
])(
  "the answer to an error has its code and no path of the machine: %s",
  (error, verdict) => {
    const why = explainError(error);
    expect(why).toMatchObject({ verdict, code: error.code });
    expect(why.reasons.join()).not.toMatch(/canary/);
  },
);

it("what no code foresaw has no answer", () => {
  const flaw = new TypeError("a flaw");
  expect(() => explainError(flaw)).toThrow(flaw);
});

it.each([
  ["1.0.0", "denied by policy.rules[1] (deny */hashicorp/*, versions < 2.0.0)"],
  [
    "3.1.0",
    "allowed by policy.rules[2] (allow */hashicorp/*, versions >= 3.0.0), once it is 15d old (policy.rules[2].minimumAge)",
  ],
  // Its range covers the prerelease without naming it, so that its age holds.
  [
    "3.1.0-rc1",
    "allowed by policy.default, once it is 15d old (policy.rules[2].minimumAge)",
  ],
])("the line that decides about %s is named", (version, said) => {
  const day = 86_400_000;
  const own = parsePattern("*/hashicorp/*");
  const policy = parsePolicy({
    ...{ default: "allow", minimumAge: 3 * day },
    rules: [
      { match: parsePattern("*/acme/*"), action: "deny" },
      {
        ...{ match: own, action: "deny" },
        versions: parseVersionConstraint("< 2"),
      },
      {
        ...{ match: own, action: "allow", minimumAge: 15 * day },
        versions: parseVersionConstraint(">= 3"),
      },
    ],
  });
  const provider = parseProviderAddress("hashicorp/random");
  const told = tellRule(policy, { provider, version: parseVersion(version) });
  expect(told).toBe(`${host}/hashicorp/random ${version} is ${said}.`);
});
