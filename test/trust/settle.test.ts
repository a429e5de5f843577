import { describe, expect, it } from "vitest";
import { decideByAge, type AgeTerms } from "../../src/trust/age.ts";
import type { KeyDecision } from "../../src/trust/decisions.ts";
import { addEvidence, settle } from "../../src/trust/settle.ts";
import { ageOf, type ReleaseQuestion } from "../../src/trust/standing.ts";
import type { Evidence } from "../../src/trust/state.ts";
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

/**
 * Reads evidence as `E!:unknown linux=a; K#sums@4 linux=b`: its signer, `-` for none; `!` where the signature does not hold; what was
 * noted of it; its document; the day of its signature; and what it names.
 */
function read(text: string): readonly Evidence[] {
  const pattern = /^([KE2-])(!?)(?::([a-z-]+))?(?:#(\S+?))?(?:@(\d+))?(?: |$)/;
  const parts = text.split("; ").filter((part) => part !== "");
  return parts.map((part) => {
    const [all = "", letter = "", bad, noted, sums, at] =
      pattern.exec(part) ?? [];
    const own = content(part.slice(all.length));
    const sha256sums = sums ?? [...own].join();
    const made = letter === "-" ? unsigned : evidence;
    return made({
      ...{ content: own, sha256sums, isGood: bad === "" },
      ...(letter === "-"
        ? { exemption: "signatures-off" }
        : { signedBy: letter.repeat(40) }),
      noted: noted as Evidence["noted"],
      id: `${sha256sums} by ${letter}`,
      ...(at !== undefined && { signedAt: later(Number(at) * day) }),
    });
  });
}

function ask(
  known: readonly Evidence[],
  with_: Partial<ReleaseQuestion> & {
    pinned?: ReturnType<typeof pinned>;
    published?: readonly string[];
  } = {},
) {
  const { pinned: first, published = [K], ...rest } = with_;
  const release = {
    pinned: first,
    evidence: known,
    published: new Set(published),
  };
  return settle(question({ release, ...rest }));
}

/** Tells `served linux=a by K`, or `refused: reason`. */
function tell({ standing }: ReturnType<typeof ask>): string {
  if (standing.kind !== "served")
    return standing.kind === "empty" ? "empty" : `refused: ${standing.because}`;
  const packages = [...standing.packages].map(
    ([platform, { sha256, evidence: own }]) =>
      `${platform}=${sha256[0]} by ${own.signedBy?.[0] ?? "none"}`,
  );
  return `served ${packages.toSorted().join(", ")}`;
}

/** What people hear; `!` where an alarm is raised. */
const kindsOf = ({ events }: ReturnType<typeof ask>) =>
  events.map((event) =>
    event.kind === "candidate"
      ? `candidate: ${event.reason}`
      : event.kind === "accepted"
        ? `accepted: ${event.because}${event.alarms ? "!" : ""}`
        : event.kind,
  );

/** Approvals of the contents of this evidence. */
const approve = (...offered: string[]) => ({
  namespace: namespace({
    decisions: {
      keys: [],
      contents: offered.flatMap(read).map(({ sha256sums }) => ({
        ...{ type: "aws", version: "2.0.0", sha256sums },
        ...{ at: start.toISOString(), decision: "approved" },
      })),
    },
  }),
});

type Asked = Parameters<typeof ask>[1];
/** `given => told` by what it shows, with other terms than usual where it needs them. */
type Rows = Readonly<Record<string, string | readonly [string, Asked]>>;

/** What is served, what is pinned then, and what people hear. */
function story(given: string, asked?: Asked): string {
  const settled = ask(read(given), asked);
  const pins = [...(settled.release.pinned?.content ?? [])].map(
    ([platform, sha256]) => `${platform}=${sha256[0]}`,
  );
  const heard = kindsOf(settled).join(", ");
  return `${tell(settled)} | ${pins.join(" ")} | ${heard}`;
}

const first = { pinned: pinned("linux=a") };
const rules = { newKeys: "accept-first", pins: undefined } as const;
const decided = (...keys: readonly KeyDecision[]) => ({
  namespace: namespace({ decisions: { keys, contents: [] } }),
});
/** On a day, where a list showed the version at the start, or never. */
const under = (days: number, on: number, seenAt?: Date) => ({
  minimumAge: days * day,
  ...{ isUnlisted: false, seenAt, now: later(on * day) },
});
const young = { age: under(3, 1, start) };

const unknown: Rows = {
  "is empty without evidence": " => empty |  | ",
  "is pinned by acceptable evidence":
    "K linux=a => served linux=a by K | linux=a | pinned, accepted: known",
  "is not pinned by an offer that is not admitted":
    "E linux=e => refused: unknown |  | candidate: unknown",
  "is the publisher's own, after any refusal":
    "E:unknown linux=e; K linux=a => served linux=a by K | linux=a | pinned, accepted: known, healed",
  "is pinned by the newest of several offers":
    "K linux=a; K linux=b => served linux=b by K | linux=b | pinned, accepted: known, healed",
  "is no candidate while it is too young": [
    "K linux=a => refused: age |  | ",
    young,
  ],
  "is pinned once it is old enough": [
    "K linux=a => served linux=a by K | linux=a | pinned, accepted: known",
    { age: under(3, 4, start) },
  ],
  "is pinned by the newest offer that is old enough, each by its own date": [
    "K linux=a; K@1 linux=b => served linux=a by K | linux=a | pinned, accepted: known, candidate: other-content",
    { age: under(3, 3) },
  ],
  "is not pinned by an offer that is too young by its own date": [
    "K@1 linux=b => refused: age |  | ",
    { age: under(3, 3) },
  ],
  "is pinned although it is too young where the policy only reports": [
    "K linux=a => served linux=a by K | linux=a | pinned, accepted: known",
    { ...young, enforcesAge: false },
  ],
  "says that its signature does not hold":
    "K! linux=a => refused: signature |  | ",
  "names nothing where a network mirror names no digest":
    "- => served  |  | pinned, accepted: signatures-off",
};

const wide = { pinned: pinned("linux=a darwin=b"), published: [K, E] };
const own = `K#${wide.pinned.sha256sums} linux=a`;

const pins: Rows = {
  "stays, for any offer under any key": [
    "K linux=a; K linux=b => served linux=a by K | linux=a | accepted: known, candidate: other-content",
    first,
  ],
  "has no candidate by an offer whose signature never held": [
    "K:known linux=a; E! linux=e => served linux=a by K | linux=a | ",
    first,
  ],
  "gains platforms by an acceptable key that agrees": [
    "K linux=a; K linux=a darwin=b => served darwin=b by K, linux=a by K | linux=a darwin=b | accepted: known, accepted: known",
    first,
  ],
  "gains none by evidence whose signature does not hold": [
    "K linux=a; K! linux=a darwin=b => served linux=a by K | linux=a | accepted: known",
    first,
  ],
  "gains none by a key that is acceptable for the pinned digests alone": [
    "K linux=a; E linux=a darwin=e => served linux=a by K | linux=a | accepted: known, candidate: unknown",
    { ...first, published: [K, E] },
  ],
  "keeps the digest that a platform had first when it was added": [
    "K linux=a; K linux=a darwin=b; K darwin=c => served darwin=b by K, linux=a by K | linux=a darwin=b | accepted: known, accepted: known, candidate: other-content",
    wide,
  ],
  "is served by the union of what good evidence names": [
    "K linux=a; K darwin=b; K! windows=c => served darwin=b by K, linux=a by K | linux=a darwin=b windows=c | accepted: known, accepted: known",
    { pinned: pinned("linux=a darwin=b windows=c") },
  ],
  "is refused while its only signature is taken away, which is told": [
    "K!:known linux=a => refused: signature | linux=a | lost",
    first,
  ],
  "is refused so without another word": [
    "K!:signature linux=a => refused: signature | linux=a | ",
    first,
  ],
  "comes back with its signature": [
    "K:signature linux=a => served linux=a by K | linux=a | accepted: known",
    first,
  ],
  "is served by another signer of the same digests, with an alarm": [
    "K! linux=a; 2 linux=a => served linux=a by 2 | linux=a | accepted: same-digests!",
    { ...first, published: [K2] },
  ],
  "counts as known since it was pinned, however late it is signed again": [
    "K@4 linux=a => served linux=a by K | linux=a | accepted: known",
    { ...first, age: under(3, 4) },
  ],
  "has other contents dropped once the origin offers it again": [
    "E:other-content linux=e; K:known linux=a => served linux=a by K | linux=a | healed",
    first,
  ],
  "has a platform that another key added while that key is acceptable": [
    `${own}; E linux=a darwin=b => served darwin=b by E, linux=a by E | linux=a darwin=b | accepted: known, accepted: new!`,
    { ...wide, rules: { ...rules, newKeys: "accept" } },
  ],
  "does not have it when that key is acceptable no longer": [
    `${own}; E linux=a darwin=b => served linux=a by K | linux=a darwin=b | accepted: known, candidate: unknown`,
    wide,
  ],
  "has it where the first key signed it, too": [
    `${own}; K linux=a darwin=b; E linux=a darwin=b => served darwin=b by E, linux=a by E | linux=a darwin=b | accepted: known, accepted: known, accepted: same-digests!`,
    wide,
  ],
};

const offered = approve("E linux=e");
const approved = { ...first, ...offered };
const { decisions } = offered.namespace;
const revoked = { ...decisions, keys: [keyDecision(E, "revoked")] };

const approvals: Rows = {
  "is served in place of the pinned one, under any key, and pins nothing": [
    "K linux=a; E linux=e => served linux=e by E | linux=a | accepted: known, accepted: approved",
    approved,
  ],
  "is reported as approved, without an alarm": [
    "K:known linux=a; E linux=e => served linux=e by E | linux=a | accepted: approved",
    approved,
  ],
  "makes no key known": [
    "E linux=f => refused: unknown |  | candidate: unknown",
    { ...offered, name: { type: "aws", version: "3.0.0" } },
  ],
  "is exactly that: another content of the same key beside it is a candidate": [
    "K linux=a; E linux=e; E linux=f => served linux=e by E | linux=a | accepted: known, accepted: approved, candidate: other-content",
    approved,
  ],
  "gives way to a newer approval": [
    "K linux=a; E linux=e; E linux=f => served linux=f by E | linux=a | accepted: known, accepted: approved, accepted: approved",
    { ...first, ...approve("E linux=e", "E linux=f") },
  ],
  "gains no platforms by its own key": [
    "K linux=a; E linux=e; E linux=e darwin=e => served linux=e by E | linux=a | accepted: known, accepted: approved, candidate: other-content",
    approved,
  ],
  "gains none by an acceptable key": [
    "E linux=e; K linux=e darwin=k => served linux=e by K | linux=a | accepted: approved, candidate: other-content",
    approved,
  ],
  "leaves the pinned one in place under a key that an operator revoked": [
    "K linux=a; E linux=e => served linux=a by K | linux=a | accepted: known, candidate: other-content",
    { ...first, namespace: namespace({ decisions: revoked }) },
  ],
  "leaves the pinned one in place under a key that pins exclude": [
    "K linux=a; E linux=e => served linux=a by K | linux=a | accepted: configured, candidate: other-content",
    { ...approved, rules: { ...rules, pins: new Set([K]) } },
  ],
  "is served under a key that pins name": [
    "E linux=e => served linux=e by E | linux=a | accepted: approved",
    { ...approved, rules: { ...rules, pins: new Set([K, E]) } },
  ],
  "is not served where only named keys are taken": [
    "E linux=e => refused: not-pinned |  | candidate: not-pinned",
    { ...offered, rules: { ...rules, newKeys: "refuse" } },
  ],
  "is not served before it was offered": [
    "K linux=a => served linux=a by K | linux=a | accepted: known",
    approved,
  ],
  "is served by an acceptable key over the same digests where its own signature does not hold":
    [
      "E! linux=e; K#again linux=e => served linux=e by K | linux=a | candidate: other-content",
      approved,
    ],
  "is not served so by a key that is not acceptable": [
    "E! linux=e; E#again linux=e; K linux=a => served linux=a by K | linux=a | accepted: known, healed",
    approved,
  ],
  "is not stood for by evidence that does not name it": [
    "E! linux=e; K darwin=b; K linux=a => served darwin=b by K, linux=a by K | darwin=b linux=a | accepted: known, accepted: known",
    approved,
  ],
};

const refusals: Rows = {
  "is about the pinned content where some evidence names it": [
    "K! linux=a; E linux=e => refused: signature | linux=a | candidate: other-content",
    first,
  ],
  "is else about the other content": [
    "E linux=e => refused: other-content | linux=a | candidate: other-content",
    first,
  ],
  "is about the newest evidence whose signature holds": [
    "K linux=a; E! linux=a => refused: revoked | linux=a | candidate: revoked",
    { ...first, ...decided(keyDecision(K, "revoked")) },
  ],
  "is one where a network mirror named no digest, and no evidence holds": [
    "-! => refused: signature |  | ",
    { pinned: pinned("", undefined) },
  ],
  "is none without evidence, also of what is pinned": [
    " => empty | linux=a | ",
    first,
  ],
};

describe.each([
  ["a release that nothing is known of", unknown],
  ["what is pinned", pins],
  ["an approved content", approvals],
  ["a refusal", refusals],
])("%s", (_, rows) => {
  it.each(Object.entries(rows))("%s", (_what, row) => {
    const [text, asked] = typeof row === "string" ? [row] : row;
    const [given = "", told] = text.split(" => ");
    expect(story(given, asked)).toBe(told);
  });
});

it("nothing more is written where nothing is new", () => {
  const { release } = ask(read("K linux=a"));
  expect(release.pinned?.signedBy).toBe(K);
  expect(settle(question({ release })).release).toBe(release);
  const known = question({
    release: {
      ...{ ...first, published: new Set([K]) },
      evidence: read("K:known linux=a; E! linux=e"),
    },
  });
  expect(settle(known).release).toBe(known.release);
});

it("candidates are dropped once a release is served as it is offered", () => {
  const { release } = ask(read("E linux=e"));
  const again = addEvidence(release, evidence(), () => false);
  const settled = settle(question({ release: again }));
  expect(kindsOf(settled)).toEqual(["pinned", "accepted: known", "healed"]);
  expect(settled.release.evidence.map(({ signedBy }) => signedBy)).toEqual([K]);
  const healed = ask(read("E:other-content linux=e; K:known linux=a"), first);
  expect(healed.release.evidence).toHaveLength(1);
});

it.each([
  ["names the most archives", "K linux=a darwin=b; K linux=a", 0],
  ["names the most and came last", "K linux=a; K linux=a darwin=b", 1],
  ["came last of two that name as many", "K#one linux=a; K linux=a", 1],
])("the evidence that %s speaks for a release", (_, given, at) => {
  const known = read(given);
  expect(ask(known).standing).toMatchObject({ evidence: known[at] });
});

it("the evidence for an approved content is its own, even if others name more", () => {
  const { standing } = ask(read("E linux=e; K linux=a darwin=b"), approved);
  expect(standing).toMatchObject({ evidence: { signedBy: E } });
});

describe("the age of a release", () => {
  it("is said of what is refused or only reported", () => {
    const age = under(9, 1);
    const [lost] = read("K! linux=a");
    const { standing } = ask(read("K! linux=a"), { age });
    expect(standing).toMatchObject({
      ...{
        kind: "refused",
        age: ageOf({ age }, lost ? [lost] : [], undefined),
      },
    });
    const reported = ask(read("K linux=a"), { ...young, enforcesAge: false });
    expect(reported.standing).toMatchObject({ age: { old: false } });
  });

  const ageAt = (terms: Partial<AgeTerms>, pinnedAt?: Date) =>
    ageOf({ age: { ...under(3, 2), ...terms } }, [unsigned()], pinnedAt);

  it("counts without a date from when it was pinned, or from when a list showed it, if that was later", () => {
    expect(ageAt({ now: later(3 * day) }, start)).toEqual({ old: true });
    const availableAt = later(3 * day);
    expect(ageAt({}, start)).toEqual({ old: false, availableAt });
    const shown = { old: false, availableAt: later(4 * day) };
    expect(ageAt({ seenAt: later(day) }, start)).toEqual(shown);
  });

  it("is that of the version where nothing else has a date", () => {
    const { age } = young;
    expect(ageAt(age)).toEqual(decideByAge(age, undefined));
  });
});

describe("the first key after an unsigned first contact", () => {
  const { contact, name } = question();
  const askFirst = (
    by: string,
    known: readonly string[] = [],
    type = name.type,
    keys: readonly KeyDecision[] = [],
  ) =>
    ask(read(by), {
      contact: { ...contact, key: undefined },
      namespace: namespace({
        firstKey: undefined,
        providerKeys: known.map((fingerprint) => ({
          ...{ ...name, type, fingerprint },
        })),
        decisions: { keys, contents: [] },
      }),
    });

  it("becomes the provider's own before its release is pinned, under any key of another provider", () => {
    expect(askFirst("E linux=a").firstSigner).toBe(E);
    expect(askFirst("E linux=a", [K2], "gcp").firstSigner).toBe(E);
    const again = askFirst("E linux=a", [E]);
    expect(again.firstSigner).toBeUndefined();
    expect(kindsOf(again)).toEqual(["pinned", "accepted: first-key!"]);
  });

  it("is the one of two signers of a release that was offered last, and none that was revoked", () => {
    expect(askFirst("K linux=a; E linux=a").firstSigner).toBe(E);
    expect(askFirst("E linux=a; K linux=a").firstSigner).toBe(K);
    const keys = [keyDecision(E, "revoked")];
    const revoked = askFirst("K linux=a; E linux=a", [], name.type, keys);
    expect(revoked.firstSigner).toBe(K);
  });
});

describe("a revoked content", () => {
  const at = start.toISOString();
  const revokedOf = (...digests: string[]) => ({
    ...first,
    namespace: namespace({
      decisions: {
        keys: [],
        contents: digests.map((sha256sums) => ({
          ...{ type: "aws", version: "2.0.0", sha256sums, at },
          decision: "revoked" as const,
        })),
      },
    }),
  });
  const [{ sha256sums } = evidence()] = read("K linux=a");

  it.each([
    "K linux=a => refused: revoked-content | linux=a | candidate: revoked-content",
    "K linux=a; E#again linux=a; K#wider linux=a darwin=b => refused: revoked-content",
    "K linux=a; K darwin=b => served darwin=b by K",
  ])(
    "is refused where it is pinned, whoever signs it and whatever document names its archives: %s",
    (text) => {
      const [given = "", told = ""] = text.split(" => ");
      expect(story(given, revokedOf(sha256sums))).toContain(told);
    },
  );
});

const releaseOf = (known: readonly Evidence[]) => ({
  ...{ pinned: pinned("linux=a"), evidence: known },
  published: new Set<string>(),
});
const eight = (text: string) => Array<string>(8).fill(text).join("; ");

/** What is kept, filled up to eight by what was admitted under another key; the place of what goes. */
it.each([
  ["a candidate", "K:known linux=a; 2:known linux=a; E:unknown linux=e", 2],
  [
    "the oldest that adds nothing, as another key over the same digests",
    "K:known linux=a; 2:known linux=a; E:same-digests linux=a; E:unknown linux=e",
    2,
  ],
  ["else the oldest but that which pinned", "K:known linux=a", 1],
  ["the oldest of copies", eight("K:known linux=a"), 0],
  ["the oldest of a stranger's", eight("E:known linux=a"), 0],
  ["another document", "K:known#another linux=a", 0],
  ["another key's", "E:known linux=a", 0],
])("where all evidence counts, the one that goes is %s", (_, text, goes) => {
  const known = read(`${text}; ${eight("2:known linux=a")}`).slice(0, 8);
  const offered = evidence({ id: "new" });
  const { evidence: kept } = addEvidence(releaseOf(known), offered, () => true);
  expect(known.findIndex((one) => !kept.includes(one))).toBe(goes);
  expect(kept).toHaveLength(8);
});

it("the oldest that does not count goes first", () => {
  const known = read(eight("E linux=a"));
  const offered = evidence({ id: "new" });
  const isCounted = (one: Evidence) => one === known[0];
  const { evidence: kept } = addEvidence(releaseOf(known), offered, isCounted);
  expect(known.findIndex((one) => !kept.includes(one))).toBe(1);
});

it("a release has each evidence once, the last offered last, with what was noted of it", () => {
  const release = releaseOf(read("K:known linux=a; E linux=e"));
  const [offered = evidence()] = read("K linux=a");
  const { evidence: kept } = addEvidence(release, offered, () => true);
  expect(kept).toEqual(read("E linux=e; K:known linux=a"));
});
