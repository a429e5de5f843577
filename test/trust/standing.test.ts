import { describe, expect, it } from "vitest";
import { settle } from "../../src/trust/settle.ts";
import { byE, ask, tell, kindsOf, approve } from "./asking.ts";
import {
  content,
  day,
  E,
  evidence,
  K,
  keyDecision,
  later,
  pinned,
  question,
  start,
} from "./releases.ts";

describe("an approved content", () => {
  const first = { pinned: pinned("linux=a") };
  const other = byE("linux=e");

  it("is served in place of the pinned one, whoever signed it, and pins nothing", () => {
    const settled = ask([evidence(), other], {
      ...first,
      ...approve(other.sha256sums),
    });
    expect(tell(settled)).toBe("served linux=e by E");
    expect(settled.noted.pinned).toBe(settled.admitted.pinned);
    expect(settled.noted.pinned?.content).toEqual(content("linux=a"));
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

  it("is served before anything is pinned, and is too young like any other", () => {
    const age = {
      ...{ minimumAge: 3 * day, isUnlisted: false },
      ...{ seenAt: start, now: later(day) },
    };
    const asked = approve(other.sha256sums);
    expect(tell(ask([other], asked))).toBe("served linux=e by E");
    expect(tell(ask([other], { ...asked, age }))).toBe("refused: age");
  });
});
