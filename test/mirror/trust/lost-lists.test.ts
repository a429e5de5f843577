import { describe, expect, it } from "vitest";
import {
  askOfKey,
  isMadeAgain,
} from "../../../src/mirror/trust/key-question.ts";
import {
  contact,
  first,
  lesson,
  list,
  provider,
  releaseBy,
  since,
  trustOf,
} from "../../scenes/key-questions.ts";

const moment = contact.getTime();

describe("a list that was first seen", () => {
  it.each([
    ["after the lesson of one", { byList: true }, 1, true],
    ["when one taught", { byList: true }, 0, false],
    ["before it taught", { byList: true }, -1, false],
    ["after the lesson of a bundle or of an earlier version", {}, 1, false],
  ])("%s was made again: %s", (_when, by, later, expected) => {
    const lessons = [{ ...lesson("P"), since, ...by }];
    const trust = trustOf({ lessons });
    const firstContact = new Date(moment + later);
    const now = { ...list, firstContact };
    expect(isMadeAgain(trust, "thing", now)).toBe(expected);
    expect(isMadeAgain(trust, "other", now)).toBe(false);
    const address = { provider, version: first };
    const asked = askOfKey(address, releaseBy("S"), now, trust);
    expect(asked.firstContact).toEqual(expected ? undefined : firstContact);
  });

  it("is the first one where nothing was taught", () => {
    expect(isMadeAgain(trustOf(), "thing", list)).toBe(false);
  });
});
