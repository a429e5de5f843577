import { describe, expect, it } from "vitest";
import {
  addCandidate,
  dropCandidates,
  needsDecision,
  noCandidates,
  type Candidate,
} from "../../src/trust/candidates.ts";
import {
  noDecisions,
  type Decision,
  type Decisions,
} from "../../src/trust/decisions.ts";
import type { CandidateReason } from "../../src/trust/state.ts";
import { E, K, keyDecision, start } from "./releases.ts";

function candidate({
  reason = "unknown",
  ...with_
}: Partial<Candidate> = {}): Candidate {
  return {
    version: "2.0.0",
    sha256sums: "e".repeat(64),
    fingerprint: E,
    reason,
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

const digestOf = candidate().sha256sums;
const content = (decision: Decision, sha256sums = digestOf): Decisions => ({
  keys: [],
  contents: [
    { type: "aws", version: "2.0.0", sha256sums, decision, at: "2026-01-01" },
  ],
});
const key = (...of: Parameters<typeof keyDecision>): Decisions => ({
  ...{ keys: [keyDecision(...of)], contents: [] },
});

type Row = [when: string, decided: Decisions, reason?: CandidateReason];

it.each<Row>([
  ["until anything is decided", noDecisions],
  ["although another content is approved", content("approved", digest(1))],
  ["although another key is approved", key(K, "approved")],
  ["of other content than is pinned", key(E, "approved"), "other-content"],
])("a candidate needs a decision %s", (_, decisions, reason) => {
  expect(needsDecision(decisions, "aws", candidate(reason && { reason }))).toBe(
    true,
  );
});

it.each<Row>([
  ["its content is approved", content("approved")],
  ["its content is revoked", content("revoked")],
  ["its key is approved", key(E, "approved")],
  ["its key is approved for it", key(E, "approved", { version: "2.0.0" })],
  ["its key is revoked", key(E, "revoked")],
  ["its revoked key is approved", key(E, "approved"), "revoked"],
  ["the revocation of its key is taken back", noDecisions, "revoked"],
  ["that of its content is taken back", noDecisions, "revoked-content"],
])("a candidate needs none once %s", (_, decisions, reason) => {
  expect(needsDecision(decisions, "aws", candidate(reason && { reason }))).toBe(
    false,
  );
});
