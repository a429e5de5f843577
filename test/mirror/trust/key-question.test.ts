import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { askOfKey } from "../../../src/mirror/trust/key-question.ts";
import { decideKey } from "../../../src/verification/trust-policy.ts";
import {
  contact,
  decide,
  first,
  key,
  later,
  lesson,
  list,
  provider,
  releaseBy,
  since,
  trustOf,
} from "../../scenes/key-questions.ts";

/** Namespace and provider are known by lessons; what K counts for is said apart. */
const places = {
  "namespace new, provider new": [],
  "namespace known, provider new": [lesson("N", "other")],
  "namespace known, provider known": [lesson("N", "other"), lesson("P")],
} as const;

const knowledge = {
  "known for the provider": { keys: [key("K", "provider")] },
  "known for another provider": { keys: [key("K", "provider", "other")] },
  "known for the namespace": { keys: [key("K", "namespace", "other")] },
  "believed for single releases": {
    keys: [key("K", "release")].map((one) => ({
      ...one,
      since: "2026-02-01T00:00:00.000Z",
    })),
  },
  pinned: { pins: new Set(["K"]) },
  "pinned out": { pins: new Set(["OTHER"]) },
  unknown: {},
  revoked: { keys: [key("K", "namespace")], revoked: true },
} as const;

/** What is expected whatever the place: of a release of the first list, and of a later one. */
const expected: Readonly<
  Record<keyof typeof knowledge, readonly [string, string]>
> = {
  "known for the provider": ["yes: known", "yes: known"],
  "known for another provider": ["yes: first-contact", "no: unknown"],
  "known for the namespace": ["yes: known", "yes: known"],
  "believed for single releases": ["yes: first-contact", "no: unknown"],
  pinned: ["yes: pinned", "yes: pinned"],
  "pinned out": ["no: not-pinned", "no: not-pinned"],
  unknown: ["yes: first-contact", "no: unknown"],
  revoked: ["no: revoked", "no: revoked"],
};

const revokedK = {
  keys: [{ fingerprint: "K", decision: "revoked", at: since }],
};

describe.each(Object.entries(places))("%s", (_place, lessons) => {
  describe.each(Object.entries(knowledge))(
    "a key that is %s",
    (name, known) => {
      const { keys, pins, revoked } = {
        keys: [],
        pins: undefined,
        revoked: false,
        ...known,
      };
      const others = lessons.map(({ fingerprint, type }) =>
        key(fingerprint ?? "", "provider", type),
      );
      const trust = trustOf(
        { keys: [...others, ...keys], lessons },
        revoked ? revokedK : {},
      );
      const wanted = expected[name as keyof typeof knowledge];
      it.each([
        ["in the first list", first, wanted[0]],
        ["later", later, wanted[1]],
      ])("%s", (_when, version, answer) => {
        const address = { provider, version };
        const question = askOfKey(address, releaseBy("K"), list, trust);
        const verdict = decideKey({
          ...question,
          pins,
          newKeys: "accept-first",
        });
        expect(`${verdict.accepted ? "yes" : "no"}: ${verdict.because}`).toBe(
          answer,
        );
      });
    },
  );
});

describe("what nobody signed", () => {
  it.each([
    [
      "goes on where nobody signed before",
      [lesson(null)],
      [],
      "yes: first-key",
    ],
    [
      "is no more than believed once before that is known",
      [],
      [],
      "no: unknown",
    ],
    [
      "does not come after what somebody signed",
      [lesson("P")],
      [key("P", "provider")],
      "no: unknown",
    ],
    [
      "does not go on in a namespace with a key",
      [lesson("N", "other"), lesson(null)],
      [key("N", "namespace", "other")],
      "no: unknown",
    ],
    [
      "goes on beside a signed provider that came later to the namespace",
      [lesson(null), lesson("N", "other")],
      [key("N", "provider", "other")],
      "yes: first-key",
    ],
  ])("%s", (_name, lessons, keys, answer) => {
    expect(decide(trustOf({ lessons, keys }), undefined)).toBe(answer);
  });
});

describe("without any list", () => {
  it.each([
    ["the first of a namespace is believed", {}, "K", "yes: first-key"],
    [
      "a key that came with the first bundle is believed for old releases",
      { lessons: [lesson("P")], keys: [key("K", "release")] },
      "K",
      "yes: first-contact",
    ],
    [
      "one that was seen at another time is not",
      {
        lessons: [lesson("P")],
        keys: [{ ...key("K", "release"), since: "2026-03-01T00:00:00.000Z" }],
      },
      "K",
      "no: unknown",
    ],
    [
      "an unknown key of a known namespace is not",
      { keys: [key("N", "namespace", "other")] },
      "K",
      "no: unknown",
    ],
    [
      "nor is one beside a provider whose key is known for it alone",
      { keys: [key("N", "provider", "other")] },
      "K",
      "no: unknown",
    ],
  ])("%s", (_name, seen, by, answer) => {
    const question = askOfKey(
      { provider, version: later },
      releaseBy(by),
      undefined,
      trustOf(seen),
    );
    const verdict = decideKey({
      ...question,
      pins: undefined,
      newKeys: "accept-first",
    });
    expect(`${verdict.accepted ? "yes" : "no"}: ${verdict.because}`).toBe(
      answer,
    );
  });
});

describe("what the ledger says of one release", () => {
  const anew = (changes: object = {}) => ({
    type: "thing",
    version: later,
    fingerprint: "S",
    since,
    ...changes,
  });
  it.each([
    ["signed anew by this key, is accepted", [anew()], "yes: resigned"],
    [
      "signed anew by another key, is not",
      [anew({ fingerprint: "T" })],
      "no: unknown",
    ],
    [
      "is not another version signed anew by this key",
      [anew({ version: first })],
      "no: unknown",
    ],
    [
      "is not another provider's release signed anew by this key",
      [anew({ type: "other" })],
      "no: unknown",
    ],
    [
      "is found among others that were signed anew",
      [anew({ version: first }), anew()],
      "yes: resigned",
    ],
  ])("%s", (_rule, resigned, answer) => {
    expect(decide(trustOf({ lessons: [lesson("P")], resigned }), "S")).toBe(
      answer,
    );
  });

  const digest = createHash("sha256").update("sums").digest("hex");
  it.each([
    ["approved, is accepted", "S", { fingerprint: "S" }, "yes: approved"],
    [
      "approved with another content, is not",
      "S",
      { fingerprint: "S", offered: "0".repeat(64) },
      "no: unknown",
    ],
    [
      "approved under another key, is not",
      "S",
      { fingerprint: "T" },
      "no: unknown",
    ],
    [
      "approved without a signature, is accepted without one",
      undefined,
      { fingerprint: "none" },
      "yes: approved",
    ],
    [
      "approved without a signature, is not accepted with one",
      "S",
      { fingerprint: "none" },
      "no: unknown",
    ],
  ])("%s", (_rule, by, changes, answer) => {
    const release = {
      type: "thing",
      version: later,
      offered: digest,
      at: since,
    };
    const decisions = { releases: [{ ...release, ...changes }] };
    expect(decide(trustOf({ lessons: [lesson("P")] }, decisions), by)).toBe(
      answer,
    );
  });
});

describe("the moment of the bundle that was first contact, without any list,", () => {
  const contactOf = (keys: readonly object[], lessons = [lesson("P")]) =>
    askOfKey(
      { provider, version: later },
      releaseBy("K"),
      undefined,
      trustOf({ lessons, keys }),
    ).firstContact;
  const carried = key("K", "release");
  it.each([
    ["is told of a key that came with it", [carried], contact],
    [
      "is found among other keys",
      [{ ...carried, fingerprint: "L" }, carried],
      contact,
    ],
    ["is not of another key", [{ ...carried, fingerprint: "L" }], undefined],
    [
      "is not of a key of another provider",
      [key("K", "release", "other")],
      undefined,
    ],
    [
      "is not of a key that is known for its provider",
      [key("K", "provider")],
      undefined,
    ],
    [
      "is not of a key that came at another time",
      [{ ...carried, since: "2026-03-01T00:00:00.000Z" }],
      undefined,
    ],
    ["is not where no key came", [], undefined],
  ])("%s", (_rule, keys, expected) => {
    expect(contactOf(keys)).toEqual(expected);
  });

  it("is none before first contact", () => {
    expect(contactOf([carried], [])).toBeUndefined();
  });
});
