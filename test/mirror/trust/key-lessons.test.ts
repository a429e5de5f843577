import { describe, expect, it } from "vitest";
import { noteLesson } from "../../../src/mirror/trust/key-notes.ts";
import { address as thing } from "../../scenes/believed-releases.ts";
import { key, lesson, since } from "../../scenes/key-questions.ts";
import { namesOf, noted, TrustNotes } from "../../scenes/trust-notes.ts";

type Known = Parameters<typeof TrustNotes.start>;

const at = noted.toISOString();
const name = { type: "thing", version: "1.0.0" };
const approved = (fingerprint: string, type: string | null = null) => ({
  keys: [{ fingerprint, decision: "approved", type, at: since }],
});

describe("what first contact with a provider teaches", () => {
  it.each<
    [
      string,
      Known,
      string | undefined,
      { readonly keys: readonly string[]; readonly alarms: readonly string[] },
    ]
  >([
    [
      "is known for a namespace of which nothing was known",
      [],
      "K",
      { keys: ["K namespace thing"], alarms: [] },
    ],
    [
      "is known for this provider alone where another one was met, with an alarm",
      [
        {
          lessons: [lesson("N", "other")],
          keys: [key("N", "namespace", "other")],
        },
      ],
      "K",
      {
        keys: ["N namespace other", "K provider thing"],
        alarms: ["key-new 1"],
      },
    ],
    [
      "is known for this provider alone where nobody signed the other one",
      [{ lessons: [lesson(null, "other")] }],
      "K",
      { keys: ["K provider thing"], alarms: ["key-new 1"] },
    ],
    [
      "is known for this provider alone where an operator approved another key",
      [{}, approved("N")],
      "K",
      { keys: ["K provider thing"], alarms: ["key-new 1"] },
    ],
    [
      "is known for this provider beside another provider of the same key",
      [
        {
          lessons: [lesson("K", "other")],
          keys: [key("K", "provider", "other")],
        },
      ],
      "K",
      { keys: ["K provider other", "K provider thing"], alarms: ["key-new 1"] },
    ],
    [
      "is nothing new where the key is the namespace's",
      [
        {
          lessons: [lesson("K", "other")],
          keys: [key("K", "namespace", "other")],
        },
      ],
      "K",
      { keys: ["K namespace other"], alarms: [] },
    ],
    [
      "is nothing new where an operator approved the key",
      [{}, approved("K")],
      "K",
      { keys: [], alarms: [] },
    ],
    [
      "makes of a key of single releases one of the provider",
      [
        {
          lessons: [lesson("N", "other")],
          keys: [
            key("K", "release"),
            key("K", "release", "other"),
            key("L", "release"),
          ],
        },
      ],
      "K",
      {
        keys: ["K release other", "L release thing", "K provider thing"],
        alarms: ["key-new 1"],
      },
    ],
    [
      "is that nobody signs, where nobody did",
      [],
      undefined,
      { keys: [], alarms: [] },
    ],
    [
      "is that nobody signs beside other unsigned ones",
      [{ lessons: [lesson(null, "other")] }],
      undefined,
      { keys: [], alarms: [] },
    ],
    [
      "is that nobody signs among signed ones, with an alarm",
      [
        {
          lessons: [lesson("N", "other")],
          keys: [key("N", "namespace", "other")],
        },
      ],
      undefined,
      { keys: ["N namespace other"], alarms: ["key-new 1"] },
    ],
  ])("%s", async (_rule, known, by, expected) => {
    const notes = await TrustNotes.start(...known);
    const before = await notes.seen();
    await noteLesson(notes.notebook, notes.request(), by);
    const seen = await notes.seen();
    expect(seen.lessons).toEqual([
      ...before.lessons,
      { ...name, fingerprint: by ?? null, since: at, byList: true },
    ]);
    expect(namesOf(seen)).toEqual(expected.keys);
    expect(await notes.alarms()).toEqual(expected.alarms);
    const learnt = seen.keys.filter((one) => one.since === at);
    expect(notes.audit()).toMatchObject(
      learnt.map(({ scope }) => ({
        event: "new-key",
        rule: "trust: first-contact",
        fingerprint: "K",
        detail:
          scope === "namespace"
            ? "known for its namespace from now on"
            : "known for this provider alone",
      })),
    );
  });

  it("is taught once: the first contact stays", async () => {
    const known = { lessons: [lesson("P")], keys: [key("P", "namespace")] };
    const notes = await TrustNotes.start(known);
    const before = await notes.seen();
    await noteLesson(notes.notebook, notes.request(), "K");
    expect(await notes.seen()).toEqual(before);
    expect([await notes.alarms(), notes.audit()]).toEqual([[], []]);
  });

  it("is what the first of two processes learnt", async () => {
    const notes = await TrustNotes.start();
    const other = notes.openEntry();
    await other.renew();
    await noteLesson(notes.notebook, notes.request(), "K");
    const request = notes.request(thing, undefined, other);
    await noteLesson(notes.notebook, request, "L");
    expect(namesOf(await notes.seen())).toEqual(["K namespace thing"]);
    expect((await notes.seen()).lessons).toHaveLength(1);
    expect(notes.audit()).toHaveLength(1);
    expect(await notes.alarms()).toEqual([]);
  });
});
