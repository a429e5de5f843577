import { describe, expect, it } from "vitest";
import { sketch as believe } from "../../scenes/release-sketches.ts";
import {
  at,
  fallen,
  fell,
  name,
  none,
  noteContinuity as note,
  others,
  resigned,
  type Known,
} from "../../scenes/history-notes.ts";
import { key, since } from "../../scenes/key-questions.ts";

describe("a release that falls", () => {
  it("is noted with the reason and audited", async () => {
    const { seen, audit } = await note([], { ...none, fallen });
    expect(seen.fallen).toEqual([{ ...fell(), since: at }]);
    expect(audit).toMatchObject([
      { event: "judged-again", verdict: "refused", reason: "revoked" },
    ]);
  });

  it.each<[string, object[], number]>([
    ["is audited once", [fell()], 0],
    ["is audited again for another reason", [fell(name, "key-expired")], 1],
    ["is audited beside others", others.map((of) => fell(of)), 1],
  ])("%s", async (_rule, before, lines) => {
    const { seen, audit } = await note([{ fallen: before }], {
      ...none,
      fallen,
    });
    expect(audit).toHaveLength(lines);
    const mine = seen.fallen.filter(
      ({ version, type }) => version === "1.0.0" && type === "thing",
    );
    expect(mine).toEqual([lines === 0 ? fell() : { ...fell(), since: at }]);
    expect(seen.fallen).toHaveLength(
      before.length + (before.length === 2 ? 1 : 0),
    );
  });
});

describe("a release that another key signed anew", () => {
  const change = { kind: "signed-anew", before: "K" } as const;
  const revoked = (type: string | null) => ({
    keys: [{ fingerprint: "K", decision: "revoked", type, at: since }],
  });
  it.each<[string, Known, string | null, boolean]>([
    ["known for the provider", [{ keys: [key("K", "provider")] }], "S", true],
    [
      "known for the namespace",
      [{ keys: [key("K", "namespace", "other")] }],
      "S",
      true,
    ],
    [
      "believed for single releases of it, as another one was",
      [{ keys: [key("L", "release"), key("K", "release")] }],
      "S",
      true,
    ],
    [
      "believed for single releases of it",
      [{ keys: [key("K", "release")] }],
      "S",
      true,
    ],
    [
      "believed for releases of another provider",
      [{ keys: [key("K", "release", "other")] }],
      "S",
      false,
    ],
    [
      "known for another provider",
      [{ keys: [key("K", "provider", "other")] }],
      "S",
      false,
    ],
    [
      "another one than is known",
      [{ keys: [key("L", "provider")] }],
      "S",
      false,
    ],
    [
      "revoked for the namespace",
      [{ keys: [key("K", "provider")] }, revoked(null)],
      "S",
      false,
    ],
    [
      "revoked for the provider",
      [{ keys: [key("K", "provider")] }, revoked("thing")],
      "S",
      false,
    ],
    [
      "revoked for another provider",
      [{ keys: [key("K", "provider")] }, revoked("other")],
      "S",
      true,
    ],
    [
      "not believed, and had signed it anew itself",
      [{ resigned: resigned(name, "K") }],
      "S",
      true,
    ],
    [
      "not believed, and had signed it anew after another such",
      [{ resigned: { ...resigned(name, "K"), unvouched: true } }],
      "S",
      false,
    ],
    [
      "known, and nobody signs now",
      [{ keys: [key("K", "provider")] }],
      null,
      false,
    ],
  ])(
    "after one that was %s",
    async (_rule, [seen = {}, decisions = {}], by, believed) => {
      const rest = others.map((of) => resigned(of));
      const known: Known = [
        { ...seen, resigned: [seen.resigned ?? resigned(), ...rest] },
        decisions,
      ];
      const first = await believe({ by: "K" });
      const after = await note(known, { change }, by, first);
      const entry = { ...resigned(name, "S"), since: at };
      const own = believed ? entry : { ...entry, unvouched: true };
      expect(after.seen.resigned).toEqual(
        by === null ? [resigned(), ...rest] : [...rest, own],
      );
      expect(after.audit).toMatchObject(
        believed
          ? [{ event: "judged-again", verdict: "accepted", fingerprint: "S" }]
          : [],
      );
    },
  );
});
