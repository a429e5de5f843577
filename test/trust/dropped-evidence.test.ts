import { expect, it } from "vitest";
import { addEvidence } from "../../src/trust/settle.ts";
import type { Evidence } from "../../src/trust/state.ts";
import { byE } from "./asking.ts";
import { E, evidence, K, K2, pinned } from "./releases.ts";

const admitted = (id: string, with_: Partial<Evidence> = {}) =>
  evidence({ id, noted: "known", ...with_ });
const releaseOf = (known: readonly Evidence[]) => ({
  ...{ pinned: pinned("linux=a"), evidence: known },
  published: new Set<string>(),
});

/** As much evidence as is kept, filled up with what was admitted under another key. */
const withOthers = (...first: readonly Evidence[]) => [
  ...first,
  ...Array.from({ length: 8 - first.length }, (_, index) =>
    admitted(`other ${index}`, { signedBy: K2 }),
  ),
];
const copies = (with_: Partial<Evidence> = {}) =>
  Array.from({ length: 8 }, (_, index) => admitted(`copy ${index}`, with_));

const first = admitted("first");
const candidate = admitted("candidate", { noted: "unknown", signedBy: E });
const again = admitted("again", { noted: "same-digests", signedBy: E });
const counting = withOthers(first).slice(0, 6);
const other = { sha256sums: "another", signedBy: K };

it.each([
  ["a candidate", [...counting, candidate, admitted("last")], "candidate"],
  [
    "the oldest that adds nothing, as another key over the same digests",
    [...counting, again, candidate],
    "again",
  ],
  ["else the oldest but that which pinned", withOthers(first), "other 0"],
  ["the oldest of copies", copies(), "copy 0"],
  ["the oldest of a stranger's", copies({ signedBy: E }), "copy 0"],
  ["another document", withOthers(admitted("document", other)), "document"],
  ["another key's", withOthers(admitted("key", { signedBy: E })), "key"],
])("where all evidence counts, the one that goes is %s", (_, known, goes) => {
  const offered = evidence({ id: "new" });
  const added = addEvidence(releaseOf(known), offered, () => true);
  const kept = new Set(added.evidence.map(({ id }) => id));
  expect(known.filter(({ id }) => !kept.has(id)).map(({ id }) => id)).toEqual([
    ...[goes],
  ]);
});

it("the evidence of a release is at most eight; the oldest that does not count goes first", () => {
  const many = Array.from({ length: 8 }, (_, index) =>
    evidence({ id: `${index}`, signedBy: E }),
  );
  const release = { ...releaseOf(many), pinned: undefined };
  const offered = evidence({ id: "new" });
  const added = addEvidence(release, offered, ({ id }) => id === "0");
  expect(added.evidence.map(({ id }) => id).join(" ")).toBe(
    "0 2 3 4 5 6 7 new",
  );
});

it("a release has each evidence once, the last offered last, with what was noted of it", () => {
  const noted = { ...evidence(), noted: "known" as const };
  const known = { ...releaseOf([noted, byE("linux=e")]), pinned: undefined };
  const added = addEvidence(known, evidence(), () => true);
  expect(added.evidence.map(({ noted: one }) => one)).toEqual([
    ...[undefined, "known"],
  ]);
});
