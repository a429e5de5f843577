import { describe, expect, it } from "vitest";
import { settle } from "../../src/trust/settle.ts";
import { decideByAge, type AgeTerms } from "../../src/trust/age.ts";
import { ageOf, isCandidate } from "../../src/trust/standing.ts";
import { byE, ask, tell, kindsOf, approve } from "./asking.ts";
import {
  content,
  day,
  E,
  evidence,
  K,
  keyDecision,
  later,
  namespace,
  pinned,
  question,
  start,
  unsigned,
} from "./releases.ts";

describe("an approved content", () => {
  const first = { pinned: pinned("linux=a") };
  const other = byE("linux=e");

  it("is served in place of the pinned one, under any key, and pins nothing", () => {
    const settled = ask([evidence(), other], {
      ...first,
      ...approve(other.sha256sums),
    });
    expect(tell(settled)).toBe("served linux=e by E");
    expect(settled.release.pinned).toBe(first.pinned);
    expect(settled.release.pinned?.content).toEqual(content("linux=a"));
  });

  it("makes no key known", () => {
    const next = evidence({ signedBy: E, content: content("linux=f") });
    const settled = settle(
      question({
        name: { type: "aws", version: "3.0.0" },
        release: { pinned: undefined, evidence: [next], published: new Set() },
        ...approve(other.sha256sums),
      }),
    );
    expect(tell(settled)).toBe("refused: unknown");
  });

  it("is exactly that: a candidate of the same key beside it stays one", () => {
    const third = byE("linux=f");
    const settled = ask([evidence(), other, third], {
      ...first,
      ...approve(other.sha256sums),
    });
    expect(tell(settled)).toBe("served linux=e by E");
    expect(kindsOf(settled)).toContain("candidate: other-content");
  });

  it("gives way to a newer approval, and the pinned one comes back without any", () => {
    const third = byE("linux=f");
    const known = [evidence(), other, third];
    const both = approve(other.sha256sums, third.sha256sums);
    expect(tell(ask(known, { ...first, ...both }))).toBe("served linux=f by E");
    expect(tell(ask(known, first))).toBe("served linux=a by K");
  });

  it("gains no platforms", () => {
    const wider = byE("linux=e darwin=e");
    const settled = ask([evidence(), other, wider], {
      ...first,
      ...approve(other.sha256sums),
    });
    expect(tell(settled)).toBe("served linux=e by E");
  });

  it.each([
    [
      "an operator revoked",
      {
        namespace: {
          ...approve(other.sha256sums).namespace,
          decisions: {
            ...approve(other.sha256sums).namespace.decisions,
            keys: [keyDecision(E, "revoked")],
          },
        },
      },
    ],
    [
      "pins exclude",
      {
        ...approve(other.sha256sums),
        rules: { newKeys: "accept-first", pins: new Set([K]) },
      },
    ],
  ] as const)(
    "leaves the pinned one in place under a key that %s",
    (_, asked) => {
      expect(tell(ask([evidence(), other], { ...first, ...asked }))).toBe(
        "served linux=a by K",
      );
    },
  );

  it("is not served where only named keys are taken", () => {
    const rules = { newKeys: "refuse", pins: undefined } as const;
    const asked = { ...approve(other.sha256sums), rules };
    expect(tell(ask([other], asked))).toBe("refused: not-pinned");
  });

  it("is not served before it was offered", () => {
    const asked = { ...first, ...approve(other.sha256sums) };
    expect(tell(ask([evidence()], asked))).toBe("served linux=a by K");
  });

  it("is served before anything is pinned, also under a minimum age", () => {
    const age = {
      ...{ minimumAge: 3 * day, isUnlisted: false },
      ...{ seenAt: start, now: later(day) },
    };
    const asked = approve(other.sha256sums);
    expect(tell(ask([other], asked))).toBe("served linux=e by E");
    expect(tell(ask([other], { ...asked, age }))).toBe("served linux=e by E");
    expect(tell(ask([byE("linux=f")], { ...asked, age }))).toBe(
      "refused: unknown",
    );
  });
});

describe("the evidence for an approved content", () => {
  const first = { pinned: pinned("linux=a") };
  const other = byE("linux=e");
  const approved = { ...first, ...approve(other.sha256sums) };

  it("is its own, even if others name more", () => {
    const wide = evidence({ content: content("linux=a darwin=b") });
    const { standing } = ask([other, wide], approved);
    expect(standing).toMatchObject({ evidence: { signedBy: E } });
  });

  it("is that of an acceptable key over the same digests where its own does not hold", () => {
    const lost = { ...other, isGood: false };
    const again = (signedBy: string) =>
      evidence({
        ...{ content: other.content, sha256sums: "again", signedBy },
      });
    expect(tell(ask([lost, again(K)], approved))).toBe("served linux=e by K");
    expect(tell(ask([lost, again(E), evidence()], approved))).toBe(
      "served linux=a by K",
    );
  });

  it("adds no platform, also under an acceptable key, and none stands for a content that it does not name", () => {
    const wide = evidence({ content: content("linux=e darwin=k") });
    expect(tell(ask([other, wide], approved))).toBe("served linux=e by K");
    const beside = evidence({ content: content("darwin=b") });
    const lost = { ...other, isGood: false };
    expect(tell(ask([lost, beside, evidence()], approved))).toBe(
      "served darwin=b by K, linux=a by K",
    );
  });

  it("is reported as approved, without an alarm", () => {
    const { events } = ask([evidence({ noted: "known" }), other], approved);
    expect(events).toMatchObject([
      { kind: "accepted", because: "approved", alarms: false },
    ]);
  });

  it("counts under a key that is pinned", () => {
    const rules = { newKeys: "accept-first", pins: new Set([K, E]) } as const;
    expect(tell(ask([other], { ...approved, rules }))).toBe(
      "served linux=e by E",
    );
  });
});

describe("a refusal", () => {
  const first = { pinned: pinned("linux=a") };
  const lost = evidence({ isGood: false });

  it("is about the pinned content where some evidence names it, and else about the other", () => {
    expect(tell(ask([lost, byE("linux=e")], first))).toBe("refused: signature");
    expect(tell(ask([byE("linux=e")], first))).toBe("refused: other-content");
  });

  it("is about the newest evidence whose signature holds", () => {
    const revoked = namespace({
      decisions: { keys: [keyDecision(K, "revoked")], contents: [] },
    });
    const settled = ask([evidence(), { ...lost, signedBy: E }], {
      ...first,
      namespace: revoked,
    });
    expect(tell(settled)).toBe("refused: revoked");
    expect(settled.standing.kind).toBe("refused");
  });

  it("has the age of its evidence", () => {
    const asked = question({
      age: {
        ...{ minimumAge: 9 * day, isUnlisted: false, seenAt: undefined },
        now: later(day),
      },
    });
    const { standing } = ask([lost], { age: asked.age });
    const age = ageOf(asked, [lost], undefined);
    expect(standing).toMatchObject({ kind: "refused", age });
    expect(tell(ask([evidence()], { age: asked.age }))).toBe("refused: age");
    expect(ask([evidence()], { age: asked.age }).standing.kind).toBe("refused");
  });

  it("is one where a network mirror named no digest, and no evidence holds", () => {
    const bare = unsigned({ content: content(""), isGood: false });
    const pinnedBare = { pinned: pinned("", undefined) };
    expect(tell(ask([bare], pinnedBare))).toBe("refused: signature");
  });

  it("is none without evidence, also of what is pinned", () => {
    expect(tell(ask([], first))).toBe("empty");
  });
});

it("the evidence that names the most archives speaks for a release", () => {
  const wide = evidence({ content: content("linux=a darwin=b") });
  for (const known of [
    [wide, evidence()],
    [evidence(), wide],
  ])
    expect(ask(known).standing).toMatchObject({ evidence: { id: wide.id } });
});

it("of two that name as many archives, the one that was offered last speaks for a release", () => {
  const [one, other] = [evidence({ id: "one" }), evidence({ id: "other" })];
  expect(ask([one, other]).standing).toMatchObject({ evidence: other });
  expect(ask([other, one]).standing).toMatchObject({ evidence: one });
});

describe("the age of what was pinned and has no date", () => {
  const age: AgeTerms = {
    ...{ minimumAge: 3 * day, isUnlisted: false, seenAt: undefined },
    now: later(2 * day),
  };
  const ageAt = (terms: Partial<AgeTerms>) =>
    ageOf({ age: { ...age, ...terms } }, [unsigned()], start);

  it("counts from when it was pinned", () => {
    expect(ageAt({ now: later(3 * day) })).toEqual({ old: true });
    const availableAt = later(3 * day);
    expect(ageAt({})).toEqual({ old: false, availableAt });
  });

  it("counts from when a list showed it, if that was later", () => {
    const seenAt = later(day);
    const availableAt = later(4 * day);
    const young = { old: false, availableAt };
    expect(ageAt({ seenAt })).toEqual(young);
  });
});

it("the age of what has no date is that of the release", () => {
  const { age } = question({
    age: {
      ...{ minimumAge: 3 * day, isUnlisted: false },
      seenAt: start,
      now: later(day),
    },
  });
  expect(ageOf({ age }, [unsigned()], undefined)).toEqual(
    decideByAge(age, undefined),
  );
});

it.each([
  ...(["revoked", "revoked-content", "not-pinned"] as const).map(
    (noted) => [noted, true] as const,
  ),
  ...(["unknown", "other-content"] as const).map(
    (noted) => [noted, true] as const,
  ),
  ...([undefined, "known", "signature", "approved"] as const).map(
    (noted) => [noted, false] as const,
  ),
])("what was noted as %s was a candidate: %s", (noted, isOne) => {
  expect(isCandidate(noted)).toBe(isOne);
});
