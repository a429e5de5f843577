import { describe, expect, it } from "vitest";
import {
  decide,
  findKeyDecision,
  listApproved,
  noDecisions,
  forget,
} from "../../src/trust/decisions.ts";
import { E, K, keyDecision, start } from "./releases.ts";

const release = { type: "aws", version: "2.0.0" };
const content = (sha256sums: string) => ({
  ...{ ...release, sha256sums, at: start.toISOString() },
  decision: "approved" as const,
});

describe("decisions on contents", () => {
  it("lists the approved contents of a release, the newest first", () => {
    const both = decide(decide(noDecisions, content("a")), content("b"));
    expect(listApproved(both, release)).toEqual(["b", "a"]);
    expect(listApproved(both, { ...release, version: "2.0.1" })).toEqual([]);
    expect(listApproved(both, { ...release, type: "gcp" })).toEqual([]);
    expect(listApproved(decide(both, content("a")), release)).toEqual([
      ...["a", "b"],
    ]);
  });

  it("undoes one completely, and touches nothing where there is none", () => {
    const one = decide(noDecisions, content("a"));
    expect(forget(one, content("a"))).toEqual(noDecisions);
    expect(forget(one, content("b"))).toEqual(one);
    expect(forget(one, { ...content("a"), version: "1" })).toEqual(one);
  });
});

describe("decisions on keys", () => {
  it("keeps those on other keys, and on other releases", () => {
    const decided = [
      keyDecision(K, "approved", { version: "2.0.0" }),
      keyDecision(E, "approved", { version: "2.0.0" }),
      keyDecision(K, "revoked", { version: "3.0.0" }),
    ];
    expect(decided.reduce(decide, noDecisions).keys).toEqual(decided);
    expect(noDecisions).toEqual({ keys: [], contents: [] });
  });

  it("takes the newest for the same scope, and keeps those for others", () => {
    const approved = decide(noDecisions, keyDecision(K, "approved"));
    const ofNamespace = keyDecision(K, "approved", { type: null });
    const wider = decide(approved, ofNamespace);
    const revoked = decide(wider, keyDecision(K, "revoked"));
    expect(revoked.keys).toEqual([ofNamespace, keyDecision(K, "revoked")]);
    expect(findKeyDecision(revoked, "revoked", release, K)).toEqual(
      keyDecision(K, "revoked"),
    );
    const elsewhere = { type: "gcp", version: "2.0.0" };
    expect(findKeyDecision(revoked, "revoked", elsewhere, K)).toBeUndefined();
  });

  it.each([
    ["the namespace", { type: null }, true, true, true],
    ["the provider", { type: "aws" }, true, true, false],
    ["the release", { type: "aws", version: "2.0.0" }, true, false, false],
  ] as const)("counts for %s", (_, scope, own, otherVersion, otherType) => {
    const decided = decide(noDecisions, keyDecision(K, "approved", scope));
    const of = (type: string, version: string) =>
      findKeyDecision(decided, "approved", { type, version }, K) !== undefined;
    expect(of("aws", "2.0.0")).toBe(own);
    expect(of("aws", "3.0.0")).toBe(otherVersion);
    expect(of("gcp", "2.0.0")).toBe(otherType);
    expect(findKeyDecision(decided, "approved", release, E)).toBeUndefined();
    expect(findKeyDecision(decided, "revoked", release, K)).toBeUndefined();
  });
});
