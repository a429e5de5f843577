import { expect, it } from "vitest";
import { moduleAddress } from "../../src/address/module-address.ts";
import { evidenceOf } from "../../src/mirror/modules/release.ts";
import { typeOfModule } from "../../src/address/specs/trust-scope.ts";
import { decide, noDecisions } from "../../src/trust/decisions.ts";
import { addEvidence, settle } from "../../src/trust/settle.ts";
import { emptyNamespace, type ReleaseTrust } from "../../src/trust/state.ts";
import { askUnsigned } from "../../src/trust/unsigned.ts";

const module = moduleAddress("example.com", "acme", "net", "aws");
const { type } = typeOfModule(module);
const name = { type, version: "1.0.0" };
const now = new Date("2026-01-01T00:00:00Z");
const [first, other] = ["a", "b"].map((one) => one.repeat(40));
const nothing: ReleaseTrust = {
  ...{ pinned: undefined, evidence: [], published: new Set() },
};

function offer(release: ReleaseTrust, digest = "", approved?: string) {
  const known = addEvidence(release, evidenceOf(digest, {}), () => false);
  const decisions =
    approved === undefined
      ? noDecisions
      : decide(noDecisions, {
          ...{ ...name, sha256sums: approved, at: now.toISOString() },
          decision: "approved",
        });
  const namespace = { ...emptyNamespace, decisions };
  return settle(askUnsigned(name, namespace, known, now));
}

const served = ({ standing }: ReturnType<typeof offer>) =>
  standing.kind === "served" ? standing.evidence.id : standing.kind;

it("a release of a module is asked about without keys and ages", () => {
  const asked = askUnsigned(name, emptyNamespace, nothing, now);
  expect(asked).toMatchObject({
    contact: {
      ...{ key: undefined, newest: "", by: "list", id: "" },
      at: new Date(0),
    },
    rules: { newKeys: "accept-first", pins: undefined },
    ...{ age: { minimumAge: 0, isUnlisted: false }, enforcesAge: false },
  });
});

it("the first content of a module is pinned, without an alarm", () => {
  const { admitted, events, standing } = offer(nothing, first);
  expect(admitted.pinned).toMatchObject({ sha256sums: first, at: now });
  expect(events).toMatchObject([
    { kind: "pinned" },
    { kind: "accepted", because: "unsigned", alarms: false },
  ]);
  expect(standing).toMatchObject({ kind: "served" });
});

it("another one is a candidate, once, which a decision alone takes", () => {
  const { noted: pinned } = offer(nothing, first);
  const replaced = offer(pinned, other);
  expect(replaced.events).toMatchObject([
    { kind: "candidate", reason: "other-content" },
  ]);
  expect(served(replaced)).toBe(first);
  expect(offer(replaced.noted, other).events).toEqual([]);
  const approved = offer(replaced.noted, other, other);
  expect(served(approved)).toBe(other);
  expect(served(offer(approved.noted, other))).toBe(first);
});
