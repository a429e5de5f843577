import { describe, expect, it } from "vitest";
import { askOfKey } from "../../../src/mirror/trust/key-question.ts";
import { decideKey } from "../../../src/verification/trust-policy.ts";
import {
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
