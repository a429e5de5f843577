import { describe, expect, it } from "vitest";
import {
  findFall,
  findLesson,
  hasKeys,
  isApproved,
  isApprovedReplacement,
  isUnmet,
  knownKeys,
  namespaceKeys,
  revokedKeys,
  seenShape,
} from "../../../src/mirror/trust/namespace-trust.ts";
import { key, lesson, since, trustOf } from "../../scenes/key-questions.ts";

const name = { type: "thing", version: "1.0.0" };

function decided(decision: string, type: string | null) {
  return trustOf(
    {},
    { keys: [{ fingerprint: "K", decision, type, at: since }] },
  );
}

describe("a key", () => {
  it.each([
    [
      "seen for the namespace",
      trustOf({ keys: [key("K", "namespace")] }),
      true,
      true,
      true,
    ],
    [
      "seen for the namespace with another provider",
      trustOf({ keys: [key("K", "namespace", "other")] }),
      true,
      true,
      true,
    ],
    [
      "seen for the provider",
      trustOf({ keys: [key("K", "provider")] }),
      true,
      false,
      true,
    ],
    [
      "seen for another provider",
      trustOf({ keys: [key("K", "provider", "other")] }),
      false,
      false,
      true,
    ],
    [
      "seen with single releases",
      trustOf({ keys: [key("K", "release")] }),
      false,
      false,
      false,
    ],
    ["approved for the namespace", decided("approved", null), true, true, true],
    [
      "approved for the provider",
      decided("approved", "thing"),
      true,
      false,
      true,
    ],
    [
      "approved for another provider",
      decided("approved", "other"),
      false,
      false,
      true,
    ],
    [
      "revoked for the namespace",
      decided("revoked", null),
      false,
      false,
      false,
    ],
    ["never seen", trustOf(), false, false, false],
  ])("%s", (_, trust, isKnown, isOfNamespace, hasAny) => {
    expect({
      known: knownKeys(trust, "thing").has("K"),
      ofNamespace: namespaceKeys(trust).has("K"),
      any: hasKeys(trust),
      unmet: isUnmet(trust),
    }).toEqual({
      known: isKnown,
      ofNamespace: isOfNamespace,
      any: hasAny,
      unmet: !hasAny,
    });
  });

  it.each([
    ["for the namespace", null, true],
    ["for the provider", "thing", true],
    ["for another provider", "other", false],
  ])("that is revoked %s", (_, type, isRevoked) => {
    expect(revokedKeys(decided("revoked", type), "thing").has("K")).toBe(
      isRevoked,
    );
    expect(revokedKeys(decided("approved", type), "thing").has("K")).toBe(
      false,
    );
  });
});

describe("a namespace", () => {
  it("is met with the first lesson, also of another provider and when nobody signed", () => {
    expect(isUnmet(trustOf({ lessons: [lesson(null, "other")] }))).toBe(false);
    expect(
      findLesson(trustOf({ lessons: [lesson("K", "other")] }), "thing"),
    ).toBeUndefined();
    expect(
      findLesson(trustOf({ lessons: [lesson("K")] }), "thing"),
    ).toMatchObject({ fingerprint: "K" });
  });

  it("keeps of a record of an earlier version the first key that nobody pinned, for all, and others for their releases", () => {
    const old = (fingerprint: string, because: string) => ({
      ...key(fingerprint, "namespace"),
      because,
      scope: undefined,
    });
    const { keys } = seenShape.parse({
      keys: [old("P", "pinned"), old("K", "first-key"), old("L", "new")],
      quarantined: [],
      replaced: [],
    });
    expect(keys.map(({ fingerprint, scope }) => [fingerprint, scope])).toEqual([
      ["P", "release"],
      ["K", "namespace"],
      ["L", "release"],
    ]);
  });
});

describe("an approval of a release", () => {
  const offered = { fingerprint: "K", digest: () => "d".repeat(64) };
  const approval = (one: object) =>
    trustOf({}, { releases: [{ ...name, offered: null, at: since, ...one }] });

  it.each([
    [
      "of this content under this key",
      { offered: offered.digest(), fingerprint: "K" },
      true,
    ],
    [
      "of this content, by an earlier version",
      { offered: offered.digest() },
      true,
    ],
    [
      "of this content under another key",
      { offered: offered.digest(), fingerprint: "L" },
      false,
    ],
    [
      "of other content under this key",
      { offered: "e".repeat(64), fingerprint: "K" },
      false,
    ],
    ["ahead, under this key", { fingerprint: "K" }, true],
    ["ahead, under another key", { fingerprint: "L" }, false],
    ["ahead, under no key", {}, false],
    ["of another version", { fingerprint: "K", version: "2.0.0" }, false],
    ["of another provider", { fingerprint: "K", type: "other" }, false],
  ])("%s", (_, one, counts) => {
    expect(isApproved(approval(one), name, offered)).toBe(counts);
  });

  it("lets exactly one content take the place of the first", () => {
    const digest = offered.digest();
    const exact = approval({ offered: digest, fingerprint: "K" });
    expect(isApprovedReplacement(exact, name, digest)).toBe(true);
    expect(isApprovedReplacement(exact, name, "e".repeat(64))).toBe(false);
    expect(
      isApprovedReplacement(exact, { ...name, version: "2.0.0" }, digest),
    ).toBe(false);
    const ahead = approval({ fingerprint: "K" });
    expect(isApprovedReplacement(ahead, name, digest)).toBe(false);
  });
});

describe("a release that fell", () => {
  const fallen = (reason: string, of: object = {}) =>
    trustOf({ fallen: [{ ...name, reason, since, ...of }] });

  it.each([
    ["is one under a revoked key", fallen("revoked"), true],
    ["is one under an expired key", fallen("key-expired"), true],
    [
      "is none where nobody could read the keys",
      fallen("malformed-key"),
      false,
    ],
    ["is no other version", fallen("revoked", { version: "2.0.0" }), false],
    ["is of no other provider", fallen("revoked", { type: "other" }), false],
  ])("%s", (_, trust, hasFallen) => {
    expect(findFall(trust, name) !== undefined).toBe(hasFallen);
  });
});
