import { expect, it } from "vitest";
import { formatExplanation } from "../../../src/commands/operate/config.ts";
import { MalformedAddress } from "../../../src/errors/index.ts";
import { parsePolicy } from "../../../src/mirror/trust/policy.ts";

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
  expect(formatExplanation(policy, spec)).toMatch(expected);
});

it.each(["acme", "acme/net@", "acme/net@~> 1.0", "acme/net@1.2.0@9.9.9"])(
  "refuses %s as a SPEC",
  (spec) => {
    expect(() => formatExplanation(policy, spec)).toThrow(MalformedAddress);
  },
);
