import { describe, expect, it } from "vitest";
import { askOfKey } from "../../../src/mirror/trust/key-question.ts";
import {
  decide,
  first,
  later,
  lesson,
  list,
  provider,
  releaseBy,
  since,
  trustOf,
} from "../../scenes/key-questions.ts";

const anew = { type: "thing", fingerprint: "S", since };

/** What is known where S signed a version anew. */
const trustAfter = (entry: object) =>
  trustOf({ lessons: [lesson("P")], resigned: [{ ...anew, ...entry }] });

describe("a release that S signed anew", () => {
  it.each([
    ["after a key that was good, is accepted", {}, "yes: resigned"],
    [
      "after one that was not, is not accepted for that",
      { unvouched: true },
      "no: unknown",
    ],
  ])("%s", (_rule, entry, answer) => {
    expect(decide(trustAfter({ version: later, ...entry }), "S")).toBe(answer);
  });

  it.each([
    ["by S after a key that was not good", { unvouched: true }, false],
    ["by S after a key that was good", {}, false],
    ["by another key", { unvouched: true, fingerprint: "T" }, true],
  ])("of the first list, counts as seen then: %s", (_by, entry, isIt) => {
    const trust = trustAfter({ version: first, ...entry });
    const address = { provider, version: first };
    const asked = askOfKey(address, releaseBy("S"), list, trust);
    expect(asked.firstContact !== undefined).toBe(isIt);
  });
});
