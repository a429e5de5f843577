import { describe, expect, it } from "vitest";
import { findRefusedClaim } from "../../../src/server/access/openid-issuer.ts";

const isMatch = (pattern: string, value: string) =>
  findRefusedClaim({ claim: value }, new Map([["claim", [pattern]]])) ===
  undefined;

describe("a pattern of a claim", () => {
  it.each([
    ["acme", "acme", true],
    ["acme", "Acme", false],
    ["acme", "acme-evil", false],
    ["acme/*", "acme/infra/live", true],
    ["acme/*", "acme", false],
    ["acme/*", "evil/acme/x", false],
    ["project_path:acme/*:ref:main", "project_path:acme/a:b:ref:main", true],
    ["project_path:acme/*:ref:main", "project_path:acme/a:ref:other", false],
    ["*@acme.example", "me@acme.example", true],
    ["*@acme.example", "me@acme.example.evil.test", false],
    ["a.c", "abc", false],
    ["", "", true],
    ["", "a", false],
  ])("%j and %j: %s", (pattern, value, expected) => {
    expect(isMatch(pattern, value)).toBe(expected);
  });
});

describe("rules on claims", () => {
  const rules = new Map([
    ["owner", ["acme", "umbrella"]],
    ["ref", ["refs/heads/*"]],
  ]);

  it.each([
    [{ owner: "umbrella", ref: "refs/heads/main" }, undefined],
    [{ owner: ["x", "acme"], ref: "refs/heads/main" }, undefined],
    [{ owner: "evil", ref: "refs/heads/main" }, "owner"],
    [{ owner: "acme", ref: "refs/tags/1" }, "ref"],
    [{ owner: "acme" }, "ref"],
    [{ owner: { acme: 1 }, ref: "refs/heads/main" }, "owner"],
    [{ owner: null, ref: "refs/heads/main" }, "owner"],
    [{}, "owner"],
  ])("of %j: %s", (claims, refused) => {
    expect(findRefusedClaim(claims, rules)).toBe(refused);
  });

  it("hold for numbers and truth values by their text, and for no inherited member", () => {
    const typed = new Map([
      ["id", ["42"]],
      ["verified", ["true"]],
    ]);
    expect(findRefusedClaim({ id: 42, verified: true }, typed)).toBeUndefined();
    const inherited = new Map([["constructor", ["function*"]]]);
    expect(findRefusedClaim({}, inherited)).toBe("constructor");
  });
});
