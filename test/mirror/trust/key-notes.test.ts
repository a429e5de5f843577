import { describe, expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import {
  noteAcceptedKey,
  noteRefusedKey,
} from "../../../src/mirror/trust/key-notes.ts";
import { address as thing } from "../../scenes/believed-releases.ts";
import { key, since } from "../../scenes/key-questions.ts";
import { namesOf, noted, TrustNotes } from "../../scenes/trust-notes.ts";

type Known = Parameters<typeof TrustNotes.start>;
type Because = Parameters<typeof noteAcceptedKey>[3];

const at = noted.toISOString();
const name = { type: "thing", version: "1.0.0" };
const held = (changes: object = {}) => ({
  ...name,
  fingerprint: "K",
  digest: "D",
  reason: "unknown",
  since,
  ...changes,
});

describe("a key that a release was accepted under", () => {
  it.each<[string, Known, Because, readonly string[], readonly string[]]>([
    [
      "because new ones are taken is known for its provider, with an alarm",
      [],
      "new",
      ["K provider thing"],
      ["key-new 1"],
    ],
    [
      "because there was none is known for its provider, with an alarm",
      [],
      "first-key",
      ["K provider thing"],
      ["key-new 1"],
    ],
    [
      "because it was in the first list counts for the release, without",
      [],
      "first-contact",
      ["K release thing"],
      [],
    ],
    [
      "because it is pinned counts for the release, which no change of pins makes more of",
      [],
      "pinned",
      ["K release thing"],
      [],
    ],
    ["because it was known is not noted", [], "known", [], []],
    ["because of an approval is not noted", [], "approved", [], []],
    ["because it signed anew is not noted", [], "resigned", [], []],
    [
      "is not noted again where it is known for the namespace",
      [{ keys: [key("K", "namespace", "other")] }],
      "new",
      ["K namespace other"],
      [],
    ],
    [
      "is not noted again where it is known for the provider",
      [{ keys: [key("K", "provider")] }],
      "first-contact",
      ["K provider thing"],
      [],
    ],
    [
      "is noted where it is known for another provider",
      [{ keys: [key("K", "provider", "other")] }],
      "new",
      ["K provider other", "K provider thing"],
      ["key-new 1"],
    ],
    [
      "is noted once for releases",
      [{ keys: [key("K", "release")] }],
      "first-contact",
      ["K release thing"],
      [],
    ],
    [
      "is noted for releases of each provider",
      [{ keys: [key("K", "release", "other")] }],
      "first-contact",
      ["K release other", "K release thing"],
      [],
    ],
    [
      "is noted for its provider where it was believed for releases",
      [{ keys: [key("K", "release")] }],
      "new",
      ["K release thing", "K provider thing"],
      ["key-new 1"],
    ],
    [
      "because it was known is not noted beside another one",
      [{ keys: [key("L", "namespace")] }],
      "known",
      ["L namespace thing"],
      [],
    ],
    [
      "is noted beside another one",
      [{ keys: [key("L", "namespace")] }],
      "new",
      ["L namespace thing", "K provider thing"],
      ["key-new 1"],
    ],
  ])("%s", async (_rule, known, because, keys, alarms) => {
    const notes = await TrustNotes.start(...known);
    const before = await notes.seen();
    const stamp = await notes.stamp();
    await noteAcceptedKey(notes.notebook, notes.request(), "K", because);
    const seen = await notes.seen();
    const isWritten = (await notes.stamp()) !== stamp;
    expect(isWritten).toBe(seen.keys.length > before.keys.length);
    expect(namesOf(seen)).toEqual(keys);
    expect(await notes.alarms()).toEqual(alarms);
    const added = seen.keys.slice(before.keys.length);
    expect(added).toEqual(
      added.map(({ scope }) => ({
        ...name,
        fingerprint: "K",
        because,
        scope,
        since: at,
      })),
    );
    expect(notes.audit()).toMatchObject(
      added.map(({ scope }) => ({
        event: "new-key",
        verdict: "accepted",
        rule: `trust: ${because}`,
        provider: "registry.terraform.io/acme/thing",
        version: "1.0.0",
        fingerprint: "K",
        detail:
          scope === "provider"
            ? "known for this provider alone"
            : "believed for this release alone",
      })),
    );
  });

  it("is none where nobody signed", async () => {
    const notes = await TrustNotes.start();
    const { notebook } = notes;
    await noteAcceptedKey(notebook, notes.request(), undefined, "first-key");
    expect(await notes.seen()).toEqual(
      (await TrustNotes.start()).entry.trust.seen,
    );
    expect([await notes.alarms(), notes.audit()]).toEqual([[], []]);
  });

  it.each<[string, Because, string | undefined]>([
    ["that is known already", "known", "K"],
    ["that is new", "new", "K"],
    ["that nobody has", "approved", undefined],
  ])(
    "%s ends that its release is held back, and no other's",
    async (_rule, because, by) => {
      const others = [held({ version: "2.0.0" }), held({ type: "other" })];
      const notes = await TrustNotes.start({
        quarantined: [held(), ...others],
      });
      await noteAcceptedKey(notes.notebook, notes.request(), by, because);
      expect((await notes.seen()).quarantined).toEqual(others);
    },
  );

  it("is told once when two processes meet it at once", async () => {
    const notes = await TrustNotes.start();
    const other = notes.openEntry();
    await other.renew();
    for (const entry of [notes.entry, other]) {
      const request = notes.request(thing, undefined, entry);
      await noteAcceptedKey(notes.notebook, request, "K", "new");
    }
    expect(namesOf(await notes.seen())).toEqual(["K provider thing"]);
    expect(notes.audit()).toHaveLength(1);
  });
});

describe("a release that is held back because of its key", () => {
  const offer = (fingerprint = "K", digest = "D") => ({
    fingerprint,
    digest: () => digest,
  });

  it("is noted with its content and the reason, told and counted", async () => {
    const notes = await TrustNotes.start();
    const request = notes.request();
    await noteRefusedKey(notes.notebook, request, offer(), "unknown");
    expect((await notes.seen()).quarantined).toEqual([held({ since: at })]);
    expect(await notes.alarms()).toEqual(["key-refused 1"]);
    expect(notes.audit()).toMatchObject([
      {
        event: "quarantined",
        verdict: "refused",
        rule: "trust: unknown",
        detail: "SHA256SUMS D",
        provider: "registry.terraform.io/acme/thing",
        version: "1.0.0",
        fingerprint: "K",
      },
    ]);
  });

  const later = { ...thing, version: parseVersion("2.0.0") };
  it.each<
    [
      string,
      ReturnType<typeof offer>,
      "unknown" | "revoked",
      typeof thing,
      {
        readonly entries: number;
        readonly lines: number;
        readonly alarms: number;
      },
    ]
  >([
    [
      "is told once",
      offer(),
      "unknown",
      thing,
      { entries: 1, lines: 1, alarms: 1 },
    ],
    [
      "is audited again with another content, and its alarm is the same",
      offer("K", "E"),
      "unknown",
      thing,
      { entries: 1, lines: 2, alarms: 1 },
    ],
    [
      "is told again under another key",
      offer("L"),
      "unknown",
      thing,
      { entries: 1, lines: 2, alarms: 2 },
    ],
    [
      "is told again for another reason",
      offer(),
      "revoked",
      thing,
      { entries: 1, lines: 2, alarms: 2 },
    ],
    [
      "is told beside another release",
      offer(),
      "unknown",
      later,
      { entries: 2, lines: 2, alarms: 2 },
    ],
  ])("%s", async (_rule, next, reason, address, expected) => {
    const notes = await TrustNotes.start();
    const { notebook } = notes;
    await noteRefusedKey(notebook, notes.request(), offer(), "unknown");
    const stamp = await notes.stamp();
    await noteRefusedKey(notebook, notes.request(address), next, reason);
    expect((await notes.stamp()) === stamp).toBe(expected.lines === 1);
    const { quarantined } = await notes.seen();
    expect(quarantined).toHaveLength(expected.entries);
    expect(quarantined.at(-1)).toEqual(
      held({
        version: address.version,
        fingerprint: next.fingerprint,
        digest: next.digest(),
        reason,
        since: at,
      }),
    );
    expect(notes.audit()).toHaveLength(expected.lines);
    const alarms = [`key-refused ${expected.alarms}`];
    expect(await notes.alarms()).toEqual(alarms);
  });

  it("is told once when two processes hold it back at once", async () => {
    const notes = await TrustNotes.start();
    const other = notes.openEntry();
    await other.renew();
    for (const entry of [notes.entry, other]) {
      const request = notes.request(thing, undefined, entry);
      await noteRefusedKey(notes.notebook, request, offer(), "unknown");
    }
    expect(notes.audit()).toHaveLength(1);
  });
});
