import { expect, it } from "vitest";
import {
  addCandidate,
  dropCandidates,
  needsDecision,
  type Candidate,
} from "../../src/trust/candidates.ts";
import {
  noDecisions,
  type Decision,
  type Decisions,
} from "../../src/trust/decisions.ts";
import type { CandidateReason } from "../../src/trust/state.ts";
import { E, K, keyDecision, start } from "./releases.ts";

const digest = (index: number) => `${index}`.padStart(64, "0");
const candidate = (with_: Partial<Candidate> = {}): Candidate => ({
  ...{ version: "2.0.0", sha256sums: digest(0), fingerprint: E },
  ...{ reason: "unknown", since: start.toISOString() },
  ...with_,
});
const add = (...all: readonly Candidate[]) => all.reduce(addCandidate, []);

it("candidates have each content of a release once", () => {
  const revoked = candidate({ reason: "revoked" });
  expect(add(candidate(), revoked)).toEqual([revoked]);
});

it.each([
  [8, "a release", (index: number) => ({ sha256sums: digest(index) })],
  [256, "a provider", (index: number) => ({ version: `3.0.${index}` })],
])("candidates are the newest %i of %s", (most, _, of) => {
  const all = Array.from({ length: 300 }, (_, index) => candidate(of(index)));
  const other = candidate({ version: "4.0.0" });
  const newest = all.slice(-most);
  expect(add(other, ...all)).toEqual(most === 8 ? [other, ...newest] : newest);
});

it("candidates of a release go once it is served as it is offered, the one that is admitted alone", () => {
  const [first, second, other] = [
    candidate(),
    candidate({ sha256sums: digest(7) }),
    candidate({ version: "3.0.0" }),
  ];
  const all = add(first, second, other);
  expect(dropCandidates(all, "2.0.0")).toEqual([other]);
  expect(dropCandidates(all, "2.0.0", digest(7))).toEqual([first, other]);
  expect(dropCandidates(all, "4.0.0")).toBe(all);
  expect(dropCandidates(all, "3.0.0", digest(7))).toBe(all);
});

const name = { type: "aws", version: "2.0.0" };
const content = (decision: Decision, sha256sums = digest(0)): Decisions => ({
  keys: [],
  contents: [{ ...name, sha256sums, decision, at: "2026-01-01" }],
});
const key = (...of: Parameters<typeof keyDecision>): Decisions => ({
  ...{ keys: [keyDecision(...of)], contents: [] },
});

it.each<[string, Decisions, CandidateReason?]>([
  ["a decision until anything is decided", noDecisions],
  ["a decision although another content is", content("approved", digest(1))],
  ["a decision although another key is", key(K, "approved")],
  ["a decision of other content", key(E, "approved"), "other-content"],
  ["none once its content is approved", content("approved")],
  ["none once its content is revoked", content("revoked")],
  ["none once its key is approved", key(E, "approved")],
  ["none once its key is so for it", key(E, "approved", { version: "2.0.0" })],
  ["none once its key is revoked", key(E, "revoked")],
  ["none once its revoked key is approved", key(E, "approved"), "revoked"],
  ["none once the revocation of its key is forgotten", noDecisions, "revoked"],
  ["none once that of its content is", noDecisions, "revoked-content"],
])("a candidate needs %s", (what, decisions, reason = "unknown") => {
  const needs = needsDecision(decisions, name, candidate({ reason }));
  expect(needs).toBe(what.startsWith("a decision"));
});
