import { expect, it } from "vitest";
import { formatExplanation } from "../../../src/commands/operate/config.ts";
import { failing } from "../../scenes/failing.ts";
import { parsePolicy } from "../../../src/trust/policy.ts";

const hosts = {
  configured: new Set(["registry.terraform.io", "a.example"]),
  allowsOthers: false,
};

const policy = parsePolicy({
  default: "allow",
  minimumAge: 0,
  rules: [{ match: "*/acme/net", action: "deny" }],
});

it.each([
  ["acme/net", /^policy\.rules\[0\] .*\n/],
  ["acme/net@1.2.0", /^policy\.rules\[0\] .*\n/],
  ["a.example/acme/other@1.2.0", /other providers\.\n/],
])("says which rule decides on %s", (spec, expected) => {
  expect(formatExplanation(policy, spec, hosts)).toMatch(expected);
});

it.each([
  "acme",
  "acme/net@",
  "acme/net@~> 1.0",
  "acme/net@1.2.0@9.9.9",
  "b.example/acme/net",
])("refuses %s as a SPEC", (spec) => {
  expect(() => formatExplanation(policy, spec, hosts)).toThrow(
    failing("malformed-address"),
  );
});
