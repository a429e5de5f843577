import { describe, expect, it } from "vitest";
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

describe("a question", () => {
  it.each([
    ["acme/demo", `${host}/acme/demo`, "provider"],
    ["acme/demo@1.2.3", `${host}/acme/demo/1.2.3`, "provider"],
    ["example.com/acme/demo", "example.com/acme/demo", "provider"],
    ["a.test/acme/demo@1.0.0-b.1", "a.test/acme/demo/1.0.0-b.1", "provider"],
    [`${host}/acme/net/aws`, `${host}/acme/net/aws`, "module"],
    ["acme/net/aws", `${host}/acme/net/aws`, "module"],
    [`${host}/acme/net/7@1.2.3`, `${host}/acme/net/7/1.2.3`, "module"],
  ])("is read as SPEC and as path alike: %s", (spec, path, kind) => {
    const question = parseWhySpec(spec, hosts);
    expect(question).toEqual(parseWhyPath(path));
    expect(Object.keys(question)).toContain(kind);
    expect(formatQuestion(question)).toBe(path);
  });

  it.each([
    "demo",
    "acme/demo@x",
    "acme/demo@1.2.0@9.9.9",
    `${host}/a/b/c/d/1.0.0`,
    "acme/../demo",
    "",
  ])("is refused when malformed: %s", (spec) => {
    expect(() => parseWhySpec(spec, hosts)).toThrow(
      failing("malformed-address"),
    );
  });
});

describe("the answer to an error", () => {
  it.each([
    [
      failure("policy-denied", "a/b/c", "1.0.0", "policy.rules[0]", {
        because: undefined,
        contact: undefined,
      }),
      "refused",
    ],
    [failure("not-found", "a/b/c"), "absent"],
    [failure("origin-timeout", "https://a.test/", "its answer"), "failing"],
    [
      failure("record-unreadable", "canary/x", "canary", "restore it"),
      "failing",
    ],
    [failure("store-unusable", "/var/canary", "canary"), "failing"],
  ])("has its code and no path of the machine: %s", (error, verdict) => {
    const why = explainError(error);
    expect(why).toMatchObject({ verdict, code: error.code });
    expect(why.reasons.join()).not.toMatch(/canary/);
  });

  it("is none for what no code foresaw", () => {
    const flaw = new TypeError("a flaw");
    expect(() => explainError(flaw)).toThrow(flaw);
  });
});

it("the line that decides about a version is named", () => {
  const day = 86_400_000;
  const policy = parsePolicy({
    ...{ default: "allow", minimumAge: 3 * day },
    rules: [
      { match: parsePattern("*/acme/*"), action: "deny" },
      {
        ...{ match: parsePattern("*/hashicorp/*"), action: "deny" },
        versions: parseVersionConstraint("< 2"),
      },
      {
        ...{
          match: parsePattern("*/hashicorp/*"),
          action: "allow",
          minimumAge: 15 * day,
        },
        versions: parseVersionConstraint(">= 3"),
      },
    ],
  });
  const provider = parseProviderAddress("hashicorp/random");
  const tell = (version: string) =>
    tellRule(policy, { provider, version: parseVersion(version) });
  expect(tell("1.0.0")).toBe(
    "registry.terraform.io/hashicorp/random 1.0.0 is denied by policy.rules[1] (deny */hashicorp/*, versions < 2.0.0).",
  );
  expect(tell("3.1.0")).toBe(
    "registry.terraform.io/hashicorp/random 3.1.0 is allowed by policy.rules[2] (allow */hashicorp/*, versions >= 3.0.0), once it is 15d old (policy.rules[2].minimumAge).",
  );
  // Its range covers the prerelease without naming it, so that its age holds.
  expect(tell("3.1.0-rc1")).toBe(
    "registry.terraform.io/hashicorp/random 3.1.0-rc1 is allowed by policy.default, once it is 15d old (policy.rules[2].minimumAge).",
  );
});
