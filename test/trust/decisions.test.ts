import { describe, expect, it } from "vitest";
import {
  approveContent,
  decideKey,
  isKeyApproved,
  isRevoked,
  listApproved,
  noDecisions,
  withdrawContent,
} from "../../src/trust/decisions.ts";
import { E, K, keyDecision, start } from "./releases.ts";

const release = { type: "aws", version: "2.0.0" };
const content = (sha256sums: string) => ({
  ...{ ...release, sha256sums, at: start.toISOString() },
});

describe("decisions on contents", () => {
  it("lists the approved contents of a release, the newest first", () => {
    const both = approveContent(
      approveContent(noDecisions, content("a")),
      content("b"),
    );
    expect(listApproved(both, release)).toEqual(["b", "a"]);
    expect(listApproved(both, { ...release, version: "2.0.1" })).toEqual([]);
    expect(listApproved(both, { ...release, type: "gcp" })).toEqual([]);
    expect(listApproved(approveContent(both, content("a")), release)).toEqual([
      ...["a", "b"],
    ]);
  });

  it("undoes one completely, and touches nothing where there is none", () => {
    const one = approveContent(noDecisions, content("a"));
    expect(withdrawContent(one, content("a"))).toEqual(noDecisions);
    expect(withdrawContent(one, content("b"))).toBe(one);
    expect(withdrawContent(one, { ...content("a"), version: "1" })).toBe(one);
  });
});

describe("decisions on keys", () => {
  it("keeps those on other keys, and on other releases", () => {
    const decided = [
      keyDecision(K, "approved", { version: "2.0.0" }),
      keyDecision(E, "approved", { version: "2.0.0" }),
      keyDecision(K, "revoked", { version: "3.0.0" }),
    ];
    expect(decided.reduce(decideKey, noDecisions).keys).toEqual(decided);
    expect(noDecisions).toEqual({ keys: [], contents: [] });
  });

  it("takes the newest for the same scope, and keeps those for others", () => {
    const approved = decideKey(noDecisions, keyDecision(K, "approved"));
    const ofNamespace = keyDecision(K, "approved", { type: null });
    const wider = decideKey(approved, ofNamespace);
    const revoked = decideKey(wider, keyDecision(K, "revoked"));
    expect(revoked.keys).toEqual([ofNamespace, keyDecision(K, "revoked")]);
    expect(isRevoked(revoked, release, K)).toBe(true);
    expect(isRevoked(revoked, { type: "gcp", version: "2.0.0" }, K)).toBe(
      false,
    );
  });

  it.each([
    ["the namespace", { type: null }, true, true, true],
    ["the provider", { type: "aws" }, true, true, false],
    ["the release", { type: "aws", version: "2.0.0" }, true, false, false],
  ] as const)("counts for %s", (_, scope, own, otherVersion, otherType) => {
    const decided = decideKey(noDecisions, keyDecision(K, "approved", scope));
    const of = (type: string, version: string) =>
      isKeyApproved(decided, { type, version }, K);
    expect(of("aws", "2.0.0")).toBe(own);
    expect(of("aws", "3.0.0")).toBe(otherVersion);
    expect(of("gcp", "2.0.0")).toBe(otherType);
    expect(isKeyApproved(decided, release, E)).toBe(false);
    expect(isRevoked(decided, release, K)).toBe(false);
  });
});
