import { describe, expect, it } from "vitest";
import type { KeyDecision } from "../../src/trust/decisions.ts";
import { addEvidence, settle } from "../../src/trust/settle.ts";
import { byE, ask, tell, kindsOf } from "./asking.ts";
import {
  content,
  day,
  E,
  evidence,
  K,
  K2,
  keyDecision,
  later,
  namespace,
  pinned,
  question,
  start,
  unsigned,
} from "./releases.ts";

describe("a release that nothing is known of", () => {
  it("is pinned when its evidence is acceptable, with one line in the audit log", () => {
    const settled = ask([evidence()]);
    expect(tell(settled)).toBe("served linux=a by K");
    expect(settled.release.pinned).toMatchObject({
      content: content("linux=a"),
      signedBy: K,
    });
    expect(kindsOf(settled)).toEqual(["pinned", "accepted: known"]);
  });

  it("has nothing more to write once that is noted", () => {
    const { release } = ask([evidence()]);
    const again = settle(question({ release }));
    expect(again.release).toBe(release);
    expect(again.events).toEqual([]);
  });

  it("is not pinned by an offer that is not admitted", () => {
    const settled = ask([byE("linux=e")]);
    expect(tell(settled)).toBe("refused: unknown");
    expect(settled.release.pinned).toBeUndefined();
    expect(kindsOf(settled)).toEqual(["candidate: unknown"]);
  });

  it("is the publisher's own, after any refusal", () => {
    const { release } = ask([byE("linux=e")]);
    const offered = addEvidence(release, evidence(), () => false);
    const settled = settle(question({ release: offered }));
    expect(tell(settled)).toBe("served linux=a by K");
    expect(kindsOf(settled)).toEqual(["pinned", "accepted: known", "healed"]);
    expect(settled.release.evidence.map(({ signedBy }) => signedBy)).toEqual([
      K,
    ]);
  });

  it("is pinned by the newest offer of several", () => {
    const newer = evidence({ content: content("linux=b") });
    expect(tell(ask([evidence(), newer]))).toBe("served linux=b by K");
  });

  it("is not pinned while it is too young, and becomes no candidate", () => {
    const age = {
      minimumAge: 3 * day,
      isUnlisted: false,
      seenAt: start,
      now: later(day),
    };
    const young = ask([evidence()], { age });
    expect(tell(young)).toBe("refused: age");
    expect(young.release.pinned).toBeUndefined();
    expect(young.events).toEqual([]);
    const old = ask([evidence()], { age: { ...age, now: later(4 * day) } });
    expect(tell(old)).toBe("served linux=a by K");
  });

  it("is pinned by the newest offer that is old enough, each by its own date", () => {
    const age = {
      ...{ minimumAge: 3 * day, isUnlisted: false, seenAt: undefined },
      now: later(3 * day),
    };
    const young = evidence({
      ...{ content: content("linux=b"), signedAt: later(day) },
    });
    const { release } = ask([evidence(), young], { age });
    expect(release.pinned?.content).toEqual(content("linux=a"));
    const { pinned: none } = ask([young], { age }).release;
    expect(none).toBeUndefined();
  });

  it("is pinned although it is too young where the policy only reports", () => {
    const age = {
      ...{ minimumAge: 3 * day, isUnlisted: false },
      ...{ seenAt: start, now: later(day) },
    };
    const settled = ask([evidence()], { age, enforcesAge: false });
    expect(tell(settled)).toBe("served linux=a by K");
    expect(settled.standing).toMatchObject({ age: { old: false } });
  });

  it("says that its signature does not hold", () => {
    const settled = ask([evidence({ isGood: false })]);
    expect(tell(settled)).toBe("refused: signature");
    expect(settled.release.pinned).toBeUndefined();
    const wide = evidence({
      content: content("linux=a darwin=b"),
      isGood: false,
    });
    const first = ask([evidence(), wide], { pinned: pinned("linux=a") });
    expect(first.release.pinned?.content).toEqual(content("linux=a"));
  });

  it("is empty without evidence", () => {
    expect(tell(ask([]))).toBe("empty");
  });
});

describe("pinned checksums", () => {
  const first = { pinned: pinned("linux=a") };

  it("stay, for any offer under any key", () => {
    const settled = ask(
      [evidence(), evidence({ content: content("linux=b") })],
      first,
    );
    expect(tell(settled)).toBe("served linux=a by K");
    expect(kindsOf(settled)).toContain("candidate: other-content");
    expect(settled.release.pinned).toBe(first.pinned);
  });

  it("have no candidate by an offer whose signature never held", () => {
    const never = { ...byE("linux=e"), isGood: false };
    const known = { ...evidence(), noted: "known" as const };
    const release = {
      ...{ evidence: [known, never], published: new Set([K]), ...first },
    };
    const settled = settle(question({ release }));
    expect(settled.events).toEqual([]);
    expect(settled.release).toBe(release);
  });

  it("gain platforms by an acceptable key that agrees", () => {
    const wider = evidence({ content: content("linux=a darwin=b") });
    expect(tell(ask([evidence(), wider], first))).toBe(
      "served darwin=b by K, linux=a by K",
    );
  });

  it("gain none by a key that is acceptable for the pinned digests alone", () => {
    const settled = ask([evidence(), byE("linux=a darwin=e")], {
      ...first,
      published: [K, E],
    });
    expect(tell(settled)).toBe("served linux=a by K");
    expect(settled.release.pinned?.content).toEqual(content("linux=a"));
  });

  it("keep the digest that a platform had first when it is added", () => {
    const wider = evidence({ content: content("linux=a darwin=b") });
    const { release } = ask([evidence(), wider], first);
    const other = evidence({ content: content("darwin=c") });
    const again = settle(
      question({ release: addEvidence(release, other, () => true) }),
    );
    expect(tell(again)).toBe("served darwin=b by K, linux=a by K");
  });

  it("are served by the union of what good evidence names", () => {
    const wide = { pinned: pinned("linux=a darwin=b windows=c") };
    const one = evidence({ content: content("linux=a") });
    const two = evidence({ content: content("darwin=b") });
    const bad = evidence({ content: content("windows=c"), isGood: false });
    expect(tell(ask([one, two, bad], wide))).toBe(
      "served darwin=b by K, linux=a by K",
    );
  });

  it("are refused while their only signature is taken away, and come back with it", () => {
    const noted = evidence({ noted: "known" });
    const lost = ask([{ ...noted, isGood: false }], first);
    expect(tell(lost)).toBe("refused: signature");
    expect(kindsOf(lost)).toEqual(["lost"]);
    expect(kindsOf(ask([...lost.release.evidence], first))).toEqual([]);
    const back = ask([{ ...noted, noted: "signature" }], first);
    expect(tell(back)).toBe("served linux=a by K");
  });

  it("are served by another signer of the same digests", () => {
    const again = evidence({ signedBy: K2 });
    const settled = ask([evidence({ isGood: false }), again], {
      ...first,
      published: [K2],
    });
    expect(tell(settled)).toBe("served linux=a by 2");
    expect(settled.events).toContainEqual(
      expect.objectContaining({ because: "same-digests", alarms: true }),
    );
  });

  it("are refused under a key that an operator revoked, and served again once that is undone", () => {
    const revoked = namespace({
      decisions: { keys: [keyDecision(K, "revoked")], contents: [] },
    });
    expect(tell(ask([evidence()], { ...first, namespace: revoked }))).toBe(
      "refused: revoked",
    );
    expect(tell(ask([evidence()], first))).toBe("served linux=a by K");
  });

  it("count as known since they were pinned, however late they are signed again", () => {
    const age = {
      ...{ minimumAge: 3 * day, isUnlisted: false, seenAt: undefined },
      now: later(4 * day),
    };
    const again = evidence({ signedAt: later(4 * day) });
    expect(tell(ask([again], { ...first, age }))).toBe("served linux=a by K");
  });

  it("drop other contents once the origin offers them again", () => {
    const other = { ...byE("linux=e"), noted: "other-content" as const };
    const settled = ask([other, { ...evidence(), noted: "known" }], first);
    expect(kindsOf(settled)).toEqual(["healed"]);
    expect(settled.release.evidence).toHaveLength(1);
  });

  it("name nothing where a network mirror names no digest", () => {
    const bare = unsigned({
      content: content(""),
      exemption: "signatures-off",
    });
    expect(tell(ask([bare]))).toBe("served ");
  });
});

describe("the first key after an unsigned first contact", () => {
  const { contact, name } = question();
  const askFirst = (
    by: readonly string[],
    known: readonly string[] = [],
    type = name.type,
    keys: readonly KeyDecision[] = [],
  ) =>
    ask(
      by.map((one) => evidence({ id: one, signedBy: one })),
      {
        contact: { ...contact, key: undefined },
        namespace: namespace({
          firstKey: undefined,
          providerKeys: known.map((fingerprint) => ({
            ...{ ...name, type, fingerprint },
          })),
          decisions: { keys, contents: [] },
        }),
      },
    );

  it("becomes the provider's own before its release is pinned, under any key of another provider", () => {
    expect(askFirst([E]).firstSigner).toBe(E);
    expect(askFirst([E], [K2], "gcp").firstSigner).toBe(E);
    expect(askFirst([E], [E]).firstSigner).toBeUndefined();
  });

  it("is reported once it is the provider's own", () => {
    const kinds = kindsOf(askFirst([E], [E]));
    expect(kinds).toEqual(["pinned", "accepted: first-key"]);
  });

  it("is the one of two signers of a release that was offered last", () => {
    expect(askFirst([K, E]).firstSigner).toBe(E);
    expect(askFirst([E, K]).firstSigner).toBe(K);
  });

  it("is none that was revoked", () => {
    const keys = [keyDecision(E, "revoked")];
    expect(askFirst([K, E], [], name.type, keys).firstSigner).toBe(K);
  });
});
