import fc from "../../seeded.ts";
import { expect, test } from "vitest";
import { parsePattern } from "../../../src/address/policy-pattern.ts";
import { parseProviderAddress } from "../../../src/address/provider-address.ts";
import { parseVersionConstraint } from "../../../src/address/version-constraint.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { tellRule } from "../../../src/mirror/why/why.ts";
import { decideByRules, parsePolicy } from "../../../src/trust/policy.ts";

const day = 86_400_000;
const random = parseProviderAddress("hashicorp/random");
const mixed = parsePolicy({
  default: "allow",
  minimumAge: 3 * day,
  rules: [
    { match: parsePattern("*/acme/*"), action: "deny" },
    {
      match: parsePattern("*/hashicorp/*"),
      action: "deny",
      versions: parseVersionConstraint("< 2"),
    },
    {
      match: parsePattern("*/hashicorp/*"),
      action: "allow",
      versions: parseVersionConstraint(">= 3"),
      minimumAge: 36 * 3_600_000 * 10,
    },
  ],
});

test("names the line that decides about a version", () => {
  const tell = (version: string) =>
    tellRule(mixed, { provider: random, version: parseVersion(version) });
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

const rule = fc.record({
  match: fc
    .constantFrom("*/*/*", "*/hashicorp/*", "*/acme/*")
    .map(parsePattern),
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
      const { action, rule } = decideByRules(policy, random, version);
      expect(tellRule(policy, { provider: random, version })).toContain(
        `${action === "deny" ? "denied" : "allowed"} by ${rule}`,
      );
    }),
    { numRuns: 2000 },
  );
});
