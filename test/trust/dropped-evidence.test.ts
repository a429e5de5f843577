import { describe, expect, it } from "vitest";
import { addEvidence } from "../../src/trust/settle.ts";
import type { Evidence } from "../../src/trust/state.ts";
import { byE } from "./asking.ts";
import { E, evidence, K, K2, pinned } from "./releases.ts";

/** Adds one offer to as much evidence as is kept, all of it of contents that count; says which one goes. */
function findDropped(known: readonly Evidence[], text = "linux=a") {
  const release = {
    pinned: pinned(text),
    evidence: known,
    published: new Set<string>(),
  };
  const added = addEvidence(release, evidence({ id: "new" }), () => true);
  const kept = new Set(added.evidence.map(({ id }) => id));
  return known.filter(({ id }) => !kept.has(id)).map(({ id }) => id);
}

const admitted = (id: string, with_: Partial<Evidence> = {}) =>
  evidence({ id, noted: "known", ...with_ });

/** Fills up with what was admitted under another key. */
const withOthers = (...first: readonly Evidence[]) => [
  ...first,
  ...Array.from({ length: 8 - first.length }, (_, index) =>
    admitted(`other ${index}`, { signedBy: K2 }),
  ),
];

describe("where all evidence counts, the one that goes", () => {
  it("is the oldest that adds nothing: a candidate, or another key over the same digests", () => {
    const candidate = admitted("candidate", { noted: "unknown", signedBy: E });
    const again = admitted("again", { noted: "same-digests", signedBy: E });
    const first = admitted("first");
    const counting = withOthers(first).slice(0, 6);
    const other = admitted("last", { signedBy: K2 });
    const known = [...counting, candidate, other];
    expect(findDropped(known)).toEqual(["candidate"]);
    expect(findDropped([...counting, again, candidate])).toEqual(["again"]);
  });

  it("is else the oldest but that which pinned", () => {
    expect(findDropped(withOthers(admitted("first")))).toEqual(["other 0"]);
    const copies = Array.from({ length: 8 }, (_, index) =>
      admitted(`copy ${index}`),
    );
    expect(findDropped(copies)).toEqual(["copy 0"]);
    const strangers = copies.map((one) => ({ ...one, signedBy: E }));
    expect(findDropped(strangers)).toEqual(["copy 0"]);
  });

  it("did not pin when its document or its key is another", () => {
    const document = admitted("document", {
      sha256sums: "another",
      signedBy: K,
    });
    expect(findDropped(withOthers(document))).toEqual(["document"]);
    expect(findDropped(withOthers(admitted("key", { signedBy: E })))).toEqual([
      "key",
    ]);
  });
});

describe("the evidence of a release", () => {
  const many = Array.from({ length: 8 }, (_, index) =>
    evidence({ id: `${index}`, signedBy: E }),
  );
  const release = {
    pinned: undefined,
    evidence: many,
    published: new Set<string>(),
  };

  it("is at most eight; the oldest that does not count goes first", () => {
    const added = addEvidence(
      release,
      evidence({ id: "new" }),
      ({ id }) => id === "0",
    );
    expect(added.evidence.map(({ id }) => id)).toEqual([
      ...["0", "2", "3", "4", "5", "6", "7", "new"],
    ]);
  });

  it("has each once, the last offered last, with what was noted of it", () => {
    const noted = { ...evidence(), noted: "known" as const };
    const known = { ...release, evidence: [noted, byE("linux=e")] };
    const added = addEvidence(known, evidence(), () => true);
    expect(added.evidence.map(({ noted: one }) => one)).toEqual([
      ...[undefined, "known"],
    ]);
  });
});
