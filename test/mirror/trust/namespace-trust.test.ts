import { describe, expect, it } from "vitest";
import {
  findFall,
  findLesson,
  hasKeys,
  isSameRelease,
  isUnmet,
  knownKeys,
  namespaceKeys,
  readOffered,
  revokedKeys,
  writeOffered,
} from "../../../src/mirror/trust/namespace-trust.ts";
import { key, lesson, since, trustOf } from "../../scenes/key-questions.ts";

const decided = (
  fingerprint: string,
  decision: "approved" | "revoked",
  type: string | null = null,
) => ({ keys: [{ fingerprint, decision, type, at: since }] });

/** Where something is known of key K, and whether it counts for this provider, for its whole namespace, and as any key. */
const places: readonly (readonly [
  string,
  Parameters<typeof trustOf>,
  {
    readonly thing: boolean;
    readonly namespace: boolean;
    readonly any: boolean;
  },
])[] = [
  [
    "learnt for the namespace counts for every provider",
    [{ keys: [key("K", "namespace", "other")] }],
    { thing: true, namespace: true, any: true },
  ],
  [
    "learnt for this provider counts for it alone",
    [{ keys: [key("K", "provider")] }],
    { thing: true, namespace: false, any: true },
  ],
  [
    "learnt for another provider counts for that alone",
    [{ keys: [key("K", "provider", "other")] }],
    { thing: false, namespace: false, any: true },
  ],
  [
    "believed for a release counts for nothing to come",
    [{ keys: [key("K", "release")] }],
    { thing: false, namespace: false, any: false },
  ],
  [
    "approved for the namespace counts for every provider",
    [{}, decided("K", "approved")],
    { thing: true, namespace: true, any: true },
  ],
  [
    "approved for this provider counts for it alone",
    [{}, decided("K", "approved", "thing")],
    { thing: true, namespace: false, any: true },
  ],
  [
    "approved for another provider counts for that alone",
    [{}, decided("K", "approved", "other")],
    { thing: false, namespace: false, any: true },
  ],
  [
    "revoked is no approval",
    [{}, decided("K", "revoked")],
    { thing: false, namespace: false, any: false },
  ],
  [
    "that nobody knows counts for nothing",
    [],
    { thing: false, namespace: false, any: false },
  ],
];

describe("a key", () => {
  it.each(places)(
    "%s",
    (_rule, [seen, decisions], { thing, namespace, any }) => {
      const trust = trustOf(seen, decisions);
      expect([...knownKeys(trust, "thing")]).toEqual(thing ? ["K"] : []);
      expect([...namespaceKeys(trust)]).toEqual(namespace ? ["K"] : []);
      expect(hasKeys(trust)).toBe(any);
      expect(isUnmet(trust)).toBe(!any);
    },
  );

  it("of each sort is known beside the others", () => {
    const trust = trustOf(
      { keys: [key("A", "namespace", "other"), key("B", "provider")] },
      decided("C", "approved"),
    );
    expect([...knownKeys(trust, "thing")]).toEqual(["A", "B", "C"]);
    expect([...namespaceKeys(trust)]).toEqual(["A", "C"]);
  });
});

describe("a revoked key is revoked", () => {
  it.each([
    ["for every provider when it is for the namespace", null, ["K"]],
    ["for the provider that it was revoked for", "thing", ["K"]],
    ["for no other provider", "other", []],
  ])("%s", (_rule, type, expected) => {
    const trust = trustOf({}, decided("K", "revoked", type));
    expect([...revokedKeys(trust, "thing")]).toEqual(expected);
  });

  it("not by an approval", () => {
    const trust = trustOf({}, decided("K", "approved"));
    expect([...revokedKeys(trust, "thing")]).toEqual([]);
  });

  it("and is still among the known ones, since revocation is asked first", () => {
    const trust = trustOf(
      { keys: [key("K", "provider")] },
      decided("K", "revoked"),
    );
    expect([...knownKeys(trust, "thing")]).toEqual(["K"]);
  });
});

describe("a namespace is unmet", () => {
  it.each([
    ["before any first contact", {}, true],
    [
      "not after first contact that taught a key",
      { lessons: [lesson("K")] },
      false,
    ],
    [
      "not after first contact with what nobody signed",
      { lessons: [lesson(null)] },
      false,
    ],
    [
      "still when only single releases were believed",
      { keys: [key("K", "release")] },
      true,
    ],
  ])("%s", (_rule, seen, expected) => {
    expect(isUnmet(trustOf(seen))).toBe(expected);
  });
});

it("a lesson is that of its provider alone", () => {
  const trust = trustOf({ lessons: [lesson("N", "other"), lesson("P")] });
  expect(findLesson(trust, "thing")?.fingerprint).toBe("P");
  expect(findLesson(trust, "other")?.fingerprint).toBe("N");
  expect(findLesson(trust, "third")).toBeUndefined();
});

const name = { type: "thing", version: "1.0.0" };

it.each([
  [name, true],
  [{ type: "thing", version: "1.0.1" }, false],
  [{ type: "other", version: "1.0.0" }, false],
])("%j is the same release as thing 1.0.0: %s", (other, expected) => {
  expect(isSameRelease(name, other)).toBe(expected);
});

describe("a release is believed no more", () => {
  const fallen = (reason: string, of = name) =>
    trustOf({ fallen: [{ ...of, reason, since }] });
  it.each([
    ["when its key was revoked", fallen("revoked"), "revoked"],
    ["when its key expired", fallen("key-expired"), "key-expired"],
    [
      "not when its keys could not be read",
      fallen("unreadable-key"),
      undefined,
    ],
    [
      "not when another version fell",
      fallen("revoked", { ...name, version: "2.0.0" }),
      undefined,
    ],
    [
      "not when another provider fell",
      fallen("revoked", { ...name, type: "other" }),
      undefined,
    ],
    ["not when nothing fell", trustOf(), undefined],
  ])("%s", (_rule, trust, expected) => {
    expect(findFall(trust, name)?.reason).toBe(expected);
  });
});

const digest = "0123456789abcdef".repeat(4);

describe("what is offered in place of the first content is read as it was written:", () => {
  it.each([
    [digest, "S", { digest, signedBy: "S" }],
    [digest, null, { digest, signedBy: undefined }],
    ["signature-refused", null, { refused: "signature-refused" }],
    [`${digest}0`, null, { refused: `${digest}0` }],
    [`0${digest}`, null, { refused: `0${digest}` }],
    ["D".repeat(64), null, { refused: "D".repeat(64) }],
  ])("%s of %s", (offered, fingerprint, other) => {
    expect(readOffered({ offered, fingerprint })).toEqual(other);
    expect(writeOffered(other)).toEqual({ offered, fingerprint });
  });
});
