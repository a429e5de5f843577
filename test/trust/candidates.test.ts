import { describe, expect, it } from "vitest";
import {
  addCandidate,
  dropCandidates,
  needsDecision,
  noCandidates,
  type Candidate,
} from "../../src/trust/candidates.ts";
import { noDecisions, type Decisions } from "../../src/trust/decisions.ts";
import { E, K, keyDecision, start } from "./releases.ts";

function candidate(with_: Partial<Candidate> = {}): Candidate {
  return {
    version: "2.0.0",
    sha256sums: "e".repeat(64),
    fingerprint: E,
    reason: "unknown",
    since: start.toISOString(),
    ...with_,
  };
}

const digest = (index: number) => `${index}`.padStart(64, "0");
const add = (all: readonly Candidate[]) =>
  all.reduce(addCandidate, noCandidates);

describe("candidates", () => {
  it("has each content of a release once", () => {
    const { list, dropped } = add([
      candidate(),
      candidate({ reason: "revoked" }),
    ]);
    expect(list).toEqual([candidate({ reason: "revoked" })]);
    expect(dropped).toBe(0);
  });

  it("keeps the newest eight of a release, and counts the rest", () => {
    const all = Array.from({ length: 20 }, (_, index) =>
      candidate({ sha256sums: digest(index) }),
    );
    const other = candidate({ version: "3.0.0" });
    const { list, dropped } = add([other, ...all]);
    expect(list).toEqual([other, ...all.slice(-8)]);
    expect(dropped).toBe(12);
  });

  it("keeps the newest 256 of a provider, and counts the rest", () => {
    const all = Array.from({ length: 300 }, (_, index) =>
      candidate({ version: `2.0.${index}` }),
    );
    const { list, dropped } = add(all);
    expect(list).toEqual(all.slice(-256));
    expect(dropped).toBe(44);
  });

  it("forgets those of a release that is offered as it is served", () => {
    const other = candidate({ version: "3.0.0" });
    const all = add([candidate(), other]);
    expect(dropCandidates(all, "2.0.0").list).toEqual([other]);
    expect(dropCandidates(all, "4.0.0")).toBe(all);
  });

  it("counts none that found no place once the last one is gone", () => {
    const all = { list: [candidate()], dropped: 12 };
    expect(dropCandidates(all, "2.0.0")).toEqual(noCandidates);
  });

  it("forgets the one that is admitted, and keeps another content of its release", () => {
    const admitted = candidate();
    const other = candidate({ sha256sums: digest(7) });
    const all = add([admitted, other]);
    const { version, sha256sums } = admitted;
    expect(dropCandidates(all, version, sha256sums).list).toEqual([other]);
    expect(dropCandidates(all, "3.0.0", sha256sums)).toBe(all);
  });
});

describe("a candidate needs a decision", () => {
  const name = { type: "aws", version: "2.0.0" };
  const contents = (
    sha256sums: string,
    decision: "approved" | "revoked" = "approved",
  ) => ({
    keys: [],
    contents: [{ ...name, sha256sums, decision, at: "2026-01-01" }],
  });
  const sha256sums = "e".repeat(64);
  const content = (said: "approved" | "revoked") => contents(sha256sums, said);
  const key = (...of: Parameters<typeof keyDecision>) => ({
    ...{ keys: [keyDecision(...of)], contents: [] },
  });
  const revokedKey = { reason: "revoked" } as const;
  const revokedContent = { reason: "revoked-content" } as const;
  const other = { reason: "other-content" } as const;

  it.each<[string, boolean, Decisions, Partial<Candidate>?]>([
    ["until anything is decided", true, noDecisions],
    ["no longer once its content is approved", false, content("approved")],
    ["no longer once its content is revoked", false, content("revoked")],
    ["although another content is approved", true, contents("f".repeat(64))],
    ["no longer once its key is approved", false, key(E, "approved")],
    [
      "no longer once its key is approved for the release",
      false,
      key(E, "approved", { version: "2.0.0" }),
    ],
    [
      "no longer once its revoked key is approved",
      false,
      key(E, "approved"),
      revokedKey,
    ],
    [
      "no longer once the revocation of its key is taken back",
      false,
      noDecisions,
      revokedKey,
    ],
    [
      "no longer once the revocation of its content is taken back",
      false,
      noDecisions,
      revokedContent,
    ],
    ["although another key is approved", true, key(K, "approved")],
    ["no longer once its key is revoked", false, key(E, "revoked")],
    [
      "although its key is approved, when its content is other than the pinned one",
      true,
      key(E, "approved"),
      other,
    ],
  ])("%s", (_, expected, decisions, with_) => {
    const one = candidate(with_);
    expect(needsDecision(decisions, "aws", one)).toBe(expected);
  });
});
