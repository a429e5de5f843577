import { describe, expect, it } from "vitest";
import { contentOf } from "../../../src/mirror/trust/key-question.ts";
import { seenShape } from "../../../src/mirror/trust/namespace-trust.ts";
import type { VersionList } from "../../../src/mirror/releases/version-list.ts";
import {
  decide,
  entry,
  first,
  later,
  lesson,
  releaseBy,
  since,
  trustOf,
} from "../../scenes/key-questions.ts";

describe("an approval", () => {
  const release = { type: "thing", version: "2.0.0", at: since };
  const digest = contentOf(releaseBy("K")).digest();
  it.each([
    [
      "counts for its content and key",
      { offered: digest, fingerprint: "K" },
      "yes: approved",
    ],
    [
      "not for other content",
      { offered: "0".repeat(64), fingerprint: "K" },
      "no: unknown",
    ],
    [
      "not for another key",
      { offered: digest, fingerprint: "L" },
      "no: unknown",
    ],
    [
      "not for another version",
      { offered: digest, fingerprint: "K", version: "2.0.1" },
      "no: unknown",
    ],
    [
      "not for another provider",
      { offered: digest, fingerprint: "K", type: "other" },
      "no: unknown",
    ],
    [
      "ahead, counts for the version under its key",
      { offered: null, fingerprint: "K" },
      "yes: approved",
    ],
    [
      "ahead, not under another one",
      { offered: null, fingerprint: "L" },
      "no: unknown",
    ],
    [
      "of an earlier build that named neither, counts for nothing",
      { offered: null },
      "no: unknown",
    ],
  ])("%s", (_name, approval, answer) => {
    const releases = [{ ...release, ...approval }];
    const trust = trustOf({ lessons: [lesson("P")] }, { releases });
    expect(decide(trust, "K")).toBe(answer);
  });

  it.each([
    ["of a key for the namespace", null, "yes: known"],
    ["of a key for the provider", "thing", "yes: known"],
    ["of a key for another provider", "other", "no: unknown"],
  ])("%s", (_name, type, answer) => {
    const keys = [{ fingerprint: "K", decision: "approved", at: since, type }];
    const trust = trustOf({ lessons: [lesson("P")] }, { keys });
    expect(decide(trust, "K")).toBe(answer);
  });

  it.each([
    ["for the namespace", null, "no: revoked"],
    ["for the provider", "thing", "no: revoked"],
    ["for another provider", "other", "yes: known"],
  ])("is worth nothing once its key is revoked %s", (_name, type, answer) => {
    const keys = [
      { fingerprint: "K", decision: "approved", at: since },
      { fingerprint: "K", decision: "revoked", at: since, type },
    ];
    const trust = trustOf({ lessons: [lesson("P")] }, { keys });
    expect(decide(trust, "K")).toBe(answer);
  });
});

describe("the records of an earlier build", () => {
  const old = (
    fingerprint: string,
    type: string,
    because = "first-contact",
  ) => ({
    fingerprint,
    type,
    because,
    since,
    version: "1.0.0",
  });
  it("keep the first key for the namespace, and let no other vouch for what comes", () => {
    const keys = [
      old("F", "other", "first-key"),
      old("K", "other"),
      old("L", "thing"),
    ];
    const trust = trustOf({ keys });
    expect(decide(trust, "F")).toBe("yes: known");
    expect(decide(trust, "K")).toBe("no: unknown");
    expect(decide(trust, "L")).toBe("no: unknown");
    expect(decide(trust, "L", first)).toBe("yes: first-contact");
  });

  it("are read the same after they were written again", () => {
    const keys = [
      old("P", "thing", "pinned"),
      old("F", "thing"),
      old("K", "other"),
    ];
    const { seen } = trustOf({ keys });
    expect(seen.keys.map(({ scope }) => scope)).toEqual([
      "release",
      "namespace",
      "release",
    ]);
    expect(seenShape.parse(JSON.parse(JSON.stringify(seen)))).toEqual(seen);
  });
});

describe("a list that was empty at first", () => {
  const day = (n: number) => new Date(`2026-01-0${n}T00:00:00Z`);
  const grown: VersionList = {
    firstContact: day(1),
    versions: new Map([entry(first, day(2)), entry(later, day(3))]),
    warnings: [],
  };
  it("makes the first versions that appear the first list", () => {
    expect(decide(trustOf(), "K", first, grown)).toBe("yes: first-contact");
    expect(decide(trustOf(), "K", later, grown)).toBe("no: unknown");
  });
});
