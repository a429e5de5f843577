import { describe, expect, it } from "vitest";
import {
  decisionsShape,
  isApproved,
  isApprovedReplacement,
  noDecisions,
  nothingSeen,
  seenShape,
} from "../../../src/mirror/trust/namespace-trust.ts";
import { since, trustOf } from "../../scenes/key-questions.ts";

const name = { type: "thing", version: "1.0.0" };
const byK = { offered: "D", fingerprint: "K" };

describe("an operator's approval of a release", () => {
  const approval = (changes: Readonly<Record<string, unknown>> = {}) =>
    trustOf(
      {},
      {
        releases: [
          { ...name, offered: "D", fingerprint: "K", at: since, ...changes },
        ],
      },
    );
  const offered = { fingerprint: "K", digest: () => "D" };
  it.each([
    ["is for this content under this key", {}, true],
    ["is not for another content", { offered: "E" }, false],
    ["is not for another key", { fingerprint: "L" }, false],
    ["is not for another version", { version: "2.0.0" }, false],
    ["is not for another provider", { type: "other" }, false],
    ["of an earlier version names no key", { fingerprint: null }, true],
    [
      "of an earlier version is for its content alone",
      { fingerprint: null, offered: "E" },
      false,
    ],
    ["ahead is for any content under its key", { offered: null }, true],
    [
      "ahead is not for another key",
      { offered: null, fingerprint: "L" },
      false,
    ],
    [
      "ahead without a key is for nothing",
      { offered: null, fingerprint: null },
      false,
    ],
  ])("%s", (_rule, changes, expected) => {
    expect(isApproved(approval(changes), name, offered)).toBe(expected);
  });

  it("is none where there is none", () => {
    expect(isApproved(trustOf(), name, offered)).toBe(false);
    expect(isApprovedReplacement(trustOf(), name, byK)).toBe(false);
  });

  it.each([
    ["is for exactly this content under this key", {}, true],
    ["is not for another content", { offered: "E" }, false],
    ["is not for another key", { fingerprint: "L" }, false],
    ["is not for nobody's key", { fingerprint: "none" }, false],
    ["of an earlier version names no key", { fingerprint: null }, true],
    ["is not for another version", { version: "2.0.0" }, false],
    ["is not for another provider", { type: "other" }, false],
    ["ahead is for none", { offered: null }, false],
  ])("in place of the first %s", (_rule, changes, expected) => {
    expect(isApprovedReplacement(approval(changes), name, byK)).toBe(expected);
  });

  it.each([
    ["is for nobody's, where nobody signed it", { fingerprint: "none" }, true],
    ["is not for nobody's, where somebody signed it", {}, false],
  ])("in place of the first %s", (_rule, changes, expected) => {
    const byNobody = { offered: "D", fingerprint: null };
    expect(isApprovedReplacement(approval(changes), name, byNobody)).toBe(
      expected,
    );
  });
});

describe("a record of an earlier version", () => {
  const written = (fingerprint: string, because: string) => ({
    fingerprint,
    because,
    since,
    ...name,
  });
  const scopesOf = (...keys: readonly object[]) =>
    seenShape
      .parse({ keys, quarantined: [], replaced: [] })
      .keys.map(({ fingerprint, scope }) => `${fingerprint} ${scope}`);

  it("has its first key known for the namespace and the others for releases", () => {
    const keys = [written("A", "first-contact"), written("B", "new")];
    expect(scopesOf(...keys)).toEqual(["A namespace", "B release"]);
  });

  it("has no pinned key known for the namespace, which the configuration knows", () => {
    const keys = [written("A", "pinned"), written("B", "first-key")];
    expect(scopesOf(...keys)).toEqual(["A release", "B namespace"]);
  });

  it("leaves a scope that is written", () => {
    const keys = [{ ...written("A", "new"), scope: "provider" }];
    expect(scopesOf(...keys)).toEqual(["A provider"]);
  });

  it("says nothing of what it did not know", () => {
    const held = { ...name, fingerprint: "K", reason: "unknown", since };
    const seen = seenShape.parse({
      keys: [],
      quarantined: [held],
      replaced: [],
    });
    expect(seen).toEqual({
      ...nothingSeen,
      quarantined: [{ ...held, digest: null }],
    });
    expect(decisionsShape.parse({ keys: [], releases: [] })).toEqual(
      noDecisions,
    );
    const key = { fingerprint: "K", decision: "revoked", at: since };
    const { keys } = decisionsShape.parse({ keys: [key], releases: [] });
    expect(keys).toEqual([{ ...key, type: null }]);
  });

  it.each(["approved", "yes", ""])(
    "is no record when a key's scope is %j",
    (scope) => {
      const keys = [{ ...written("A", "new"), scope }];
      expect(() => scopesOf(...keys)).toThrow();
    },
  );
});
