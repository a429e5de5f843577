import { describe, expect, it } from "vitest";
import { SignatureRefused } from "../../../src/errors/index.ts";
import { documentDigest } from "../../../src/mirror/releases/continuity.ts";
import {
  awaitsReplacement,
  ReleaseHistory,
  standingOf,
} from "../../../src/mirror/trust/release-history.ts";
import { address as thing } from "../../scenes/believed-releases.ts";
import { sketch as believe } from "../../scenes/release-sketches.ts";
import {
  approval,
  at,
  digest,
  fallen,
  fell,
  name,
  none,
  noteContinuity as note,
  others,
  replaced,
  type Known,
} from "../../scenes/history-notes.ts";
import { trustOf } from "../../scenes/key-questions.ts";
import { TrustNotes } from "../../scenes/trust-notes.ts";

const offering = {
  change: { kind: "replaced", offered: { digest, signedBy: "S" } },
} as const;

describe("what was decided on a release", () => {
  it("is told of its fall, with the reason, and of approved contents", () => {
    const trust = trustOf({ fallen: [fell()] }, approval());
    const { isApproved, fallen: fall } = standingOf(trust, thing);
    expect(fall).toBeInstanceOf(SignatureRefused);
    expect(fall?.reason).toBe("revoked");
    expect([
      isApproved(digest, "S"),
      isApproved(digest, "T"),
      isApproved(digest, undefined),
      isApproved("e".repeat(64), "S"),
    ]).toEqual([true, false, false, false]);
  });

  it("is nothing where others fell", () => {
    const trust = trustOf({ fallen: others.map((of) => fell(of)) });
    expect(standingOf(trust, thing).fallen).toBeUndefined();
  });

  it.each<[string, Known, boolean]>([
    ["approved", [{ replaced: [replaced()] }, approval()], true],
    ["offered and not approved", [{ replaced: [replaced()] }], false],
    ["approved and not offered", [{}, approval()], false],
    [
      "offered, and another content is approved",
      [{ replaced: [replaced()] }, approval("e".repeat(64))],
      false,
    ],
    [
      "approved, and offered of another version",
      [{ replaced: [replaced(others[0])] }, approval()],
      false,
    ],
  ])("awaits other content once it is %s", (_rule, known, expected) => {
    expect(awaitsReplacement(trustOf(...known), thing)).toBe(expected);
  });
});

describe("what happens to a release", () => {
  it("first seen, is audited", async () => {
    const notes = await TrustNotes.start();
    const release = await believe({ by: "K" });
    const history = new ReleaseHistory(notes.notebook);
    await history.note(notes.request(), undefined, { ...none, release });
    expect(notes.audit()).toMatchObject([
      {
        event: "first-seen",
        verdict: "accepted",
        detail: `SHA256SUMS ${documentDigest(release)}`,
        fingerprint: "K",
      },
    ]);
    expect(notes.audit()[0]).not.toHaveProperty("rule");
  });

  it("first seen unsigned, is audited with the setting that lets it", async () => {
    const notes = await TrustNotes.start();
    const release = await believe({ by: undefined });
    const history = new ReleaseHistory(notes.notebook);
    await history.note(notes.request(), undefined, { ...none, release });
    expect(notes.audit()).toMatchObject([
      { event: "first-seen", rule: "signatures: unsigned-when-published" },
    ]);
  });

  it("nothing, writes nothing", async () => {
    const notes = await TrustNotes.start({
      replaced: [replaced(others[0])],
      fallen: [fell(others[0])],
    });
    const stamp = await notes.stamp();
    const release = await believe({ by: "K" });
    const history = new ReleaseHistory(notes.notebook);
    await history.note(notes.request(), release, { ...none, release });
    expect([notes.audit(), await notes.alarms()]).toEqual([[], []]);
    expect(await notes.stamp()).toBe(stamp);
  });

  it("approved in place of the first, is audited and offered no more", async () => {
    const known: Known = [
      { replaced: [replaced(), ...others.map((of) => replaced(of))] },
    ];
    const change = { kind: "approved" } as const;
    const { audit, seen, alarms } = await note(known, { change });
    expect(audit).toMatchObject([{ event: "replaced", verdict: "accepted" }]);
    expect(seen.replaced).toEqual(others.map((of) => replaced(of)));
    expect(alarms).toEqual([]);
  });

  it("offered with other content, is noted, audited and told", async () => {
    const { seen, audit, alarms } = await note([], offering);
    expect(seen.replaced).toEqual([{ ...replaced(), since: at }]);
    expect(audit).toMatchObject([
      {
        event: "replaced",
        verdict: "refused",
        rule: "first seen wins",
        detail: `SHA256SUMS ${digest}`,
        fingerprint: "S",
      },
    ]);
    expect(alarms).toEqual(["release-replaced 1"]);
  });

  it("refused with other content, is audited with the code of that", async () => {
    const offered = { refused: "signature-refused" };
    const change = { kind: "replaced", offered } as const;
    const { seen, audit } = await note([], { change });
    expect(audit).toMatchObject([{ detail: offered.refused }]);
    expect(seen.replaced).toMatchObject([
      { offered: offered.refused, fingerprint: null },
    ]);
  });

  it.each<[string, object, number]>([
    ["the same content again, is told once", replaced(), 0],
    ["another content again, is told again", replaced(name, "e".repeat(64)), 1],
  ])("offered with %s", async (_rule, before, lines) => {
    const rest = others.map((of) => replaced(of));
    const known: Known = [{ replaced: [before, ...rest] }];
    const { seen, audit, alarms } = await note(known, offering);
    expect(audit).toHaveLength(lines);
    expect(alarms).toHaveLength(lines);
    expect(seen.replaced).toHaveLength(3);
    expect(seen.replaced).toContainEqual(
      lines === 0 ? replaced() : { ...replaced(), since: at },
    );
  });

  it("offered as it was believed, lifts the note of other content and of its fall, and no other's", async () => {
    const rest = {
      replaced: others.map((of) => replaced(of)),
      fallen: others.map((of) => fell(of)),
    };
    const known: Known = [
      {
        replaced: [replaced(), ...rest.replaced],
        fallen: [fell(), ...rest.fallen],
      },
    ];
    const { seen, audit } = await note(known, none);
    expect(seen).toMatchObject(rest);
    expect(audit).toEqual([]);
  });

  it("offered with other content, stands again all the same when its keys say so", async () => {
    const known: Known = [{ replaced: [replaced()], fallen: [fell()] }];
    const { seen } = await note(known, offering);
    expect([seen.replaced, seen.fallen]).toEqual([[replaced()], []]);
  });

  it("fallen, stays noted as offered with other content only while it is", async () => {
    const known: Known = [{ replaced: [replaced()], fallen: [fell()] }];
    const { seen } = await note(known, { ...none, fallen });
    expect([seen.replaced, seen.fallen]).toEqual([[], [fell()]]);
  });
});

it("a changed report is told of a release that was known", async () => {
  const first = await believe({ by: "K", told: "linux=x" });
  const [platform, report] = [...first.reported][0] ?? [];
  const changed = new Map([
    [
      platform ?? "",
      {
        ...report,
        packageHashes: report?.packageHashes ?? [],
        size: undefined,
        offered: ["h1:y" as never],
      },
    ],
  ]);
  const notes = await TrustNotes.start();
  const release = { ...first, reported: changed };
  const history = new ReleaseHistory(notes.notebook);
  await history.note(notes.request(), first, { ...none, release });
  expect(await notes.alarms()).toEqual(["package-hash-conflict 1"]);
  await history.note(notes.request(), release, { ...none, release });
  expect(await notes.alarms()).toEqual(["package-hash-conflict 1"]);
});
