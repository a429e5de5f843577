import { describe, expect, it } from "vitest";
import type { AgeTerms } from "../../src/trust/age.ts";
import type { Decision, KeyDecision } from "../../src/trust/decisions.ts";
import { addEvidence, settle } from "../../src/trust/settle.ts";
import { ageOf, type ReleaseQuestion } from "../../src/trust/standing.ts";
import type { Evidence } from "../../src/trust/state.ts";
import {
  contact,
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

/** What is served, what is pinned then, and what people hear. */
function story(given: string, asked?: Parameters<typeof ask>[1]): string {
  const settled = ask(read(given), asked);
  const pins = [...(settled.release.pinned?.content ?? [])].map(
    ([platform, sha256]) => `${platform}=${sha256[0]}`,
  );
  const heard = kindsOf(settled);
  if (settled.firstSigner)
    heard.push(`first signer: ${settled.firstSigner[0]}`);
  return `${tell(settled)} | ${pins.join(" ")} | ${heard.join(", ")}`;
}

const at = start.toISOString();
/** Decisions on keys, and on the contents of this evidence. */
const decided = (
  contents: Partial<Record<Decision, string>>,
  ...keys: readonly KeyDecision[]
) => ({
  namespace: namespace({
    decisions: {
      keys,
      contents: (["approved", "revoked"] as const).flatMap((decision) =>
        read(contents[decision] ?? "").map(({ sha256sums }) => ({
          ...{ type: "aws", version: "2.0.0", sha256sums, decision, at },
        })),
      ),
    },
  }),
});
/** On a day, where a list showed the version at the start, or never. */
const under = (days: number, on: number, seenAt?: Date) => ({
  minimumAge: days * day,
  ...{ isUnlisted: false, seenAt, now: later(on * day) },
});
/** After a first contact without keys; what became a provider's own then. */
const free = (type?: string, ...keys: readonly KeyDecision[]) => ({
  contact: contact({ key: undefined }),
  namespace: {
    ...decided({}, ...keys).namespace,
    firstKey: undefined,
    providerKeys: type ? [{ type, version: "2.0.0", fingerprint: E }] : [],
  },
});

const pinnedA = { pinned: pinned("linux=a") };
const young = { age: under(3, 1, start) };
const two = { pinned: pinned("linux=a darwin=b"), published: [K, E] };
const rules = { newKeys: "accept-first", pins: undefined } as const;
const approving = decided({ approved: "E linux=e" });
const approved = { ...pinnedA, ...approving };
const revokedE = keyDecision(E, "revoked");

/** What is asked, beside the evidence. */
const worlds = {
  new: {},
  young,
  reported: { ...young, enforcesAge: false },
  third: { age: under(3, 3) },
  pinned: pinnedA,
  pinnedYoung: { ...pinnedA, ...young },
  pinnedFourth: { ...pinnedA, age: under(3, 4) },
  pinnedE: { ...pinnedA, published: [K, E] },
  pinned2: { ...pinnedA, published: [K2] },
  pinnedEmpty: { pinned: pinned("") },
  revokedK: { ...pinnedA, ...decided({}, keyDecision(K, "revoked")) },
  two,
  twoNew: { ...two, rules: { ...rules, newKeys: "accept" } },
  three: { pinned: pinned("linux=a darwin=b windows=c") },
  approved,
  approvedBefore: { ...approving, name: { type: "aws", version: "3.0.0" } },
  approvedTwice: {
    ...pinnedA,
    ...decided({ approved: "E linux=e; E linux=f" }),
  },
  approvedRevoked: {
    ...pinnedA,
    ...decided({ approved: "E linux=e" }, revokedE),
  },
  approvedK: { ...approved, rules: { ...rules, pins: new Set([K]) } },
  approvedKE: { ...approved, rules: { ...rules, pins: new Set([K, E]) } },
  approvedRefuse: { ...approving, rules: { ...rules, newKeys: "refuse" } },
  free: free(),
  freeGcp: free("gcp"),
  freeAws: free("aws"),
  freeRevoked: free(undefined, revokedE),
  revoked: { ...pinnedA, ...decided({ revoked: "K linux=a" }) },
  revokedAgain: {
    ...pinnedA,
    ...decided({ revoked: "K linux=a", approved: "K#again linux=a" }),
  },
} as const satisfies Readonly<Record<string, Parameters<typeof ask>[1]>>;

/** `world: given => told`: what is served, what is pinned then, and what people hear. */
const stories = {
  "a release that nothing is known of": {
    "is empty without evidence": "new: => empty |  | ",
    "is pinned by acceptable evidence":
      "new: K linux=a => served linux=a by K | linux=a | pinned, accepted: known",
    "is not pinned by an offer that is not admitted":
      "new: E linux=e => refused: unknown |  | candidate: unknown",
    "is the publisher's own, after any refusal":
      "new: E:unknown linux=e; K linux=a => served linux=a by K | linux=a | pinned, accepted: known, healed",
    "is pinned by the newest offer that is old enough, each by its own date":
      "third: K linux=a; K@1 linux=b => served linux=a by K | linux=a | pinned, accepted: known, candidate: other-content",
    "is not pinned by an offer that is too young by its own date":
      "third: K@1 linux=b => refused: age |  | ",
    "is no candidate while it is too young":
      "young: K linux=a => refused: age |  | ",
    "is pinned although it is too young where the policy only reports":
      "reported: K linux=a => served linux=a by K | linux=a | pinned, accepted: known",
    "says that its signature does not hold":
      "new: K! linux=a => refused: signature |  | ",
    "names nothing where its document names every archive twice":
      "new: - => served  |  | pinned, accepted: signatures-off",
  },
  "what is pinned": {
    "stays, for any offer under any key":
      "pinned: K linux=a; K linux=b => served linux=a by K | linux=a | accepted: known, candidate: other-content",
    "is none without evidence": "pinned: => empty | linux=a | ",
    "is refused while it is too young":
      "pinnedYoung: K linux=a => refused: age | linux=a | accepted: known",
    "counts as known since it was pinned, however late it is signed again":
      "pinnedFourth: K@4 linux=a => served linux=a by K | linux=a | accepted: known",
    "gains platforms by an acceptable key that agrees":
      "pinned: K linux=a; K linux=a darwin=b => served darwin=b by K, linux=a by K | linux=a darwin=b | accepted: known, accepted: known",
    "gains none by evidence whose signature does not hold":
      "pinned: K linux=a; K! linux=a darwin=b => served linux=a by K | linux=a | accepted: known",
    "gains none by a key that is acceptable for the pinned digests alone":
      "pinnedE: K linux=a; E linux=a darwin=e => served linux=a by K | linux=a | accepted: known, candidate: unknown",
    "keeps the digest that a platform had first when it was added":
      "two: K linux=a; K linux=a darwin=b; K darwin=c => served darwin=b by K, linux=a by K | linux=a darwin=b | accepted: known, accepted: known, candidate: other-content",
    "is served by the union of what good evidence names":
      "three: K linux=a; K darwin=b; K! windows=c => served darwin=b by K, linux=a by K | linux=a darwin=b windows=c | accepted: known, accepted: known",
    "is refused while its only signature is taken away, which is told":
      "pinned: K!:known linux=a => refused: signature | linux=a | lost",
    "is refused so without another word":
      "pinned: K!:signature linux=a => refused: signature | linux=a | ",
    "comes back with its signature":
      "pinned: K:signature linux=a => served linux=a by K | linux=a | accepted: known",
    "is served by another signer of the same digests, with an alarm":
      "pinned2: K! linux=a; 2 linux=a => served linux=a by 2 | linux=a | accepted: same-digests!",
    "has other contents dropped once the origin offers it again":
      "pinned: E:other-content linux=e; K:known linux=a => served linux=a by K | linux=a | healed",
    "has none dropped by an offer whose signature does not hold":
      "pinned: E:other-content linux=e; K!:signature linux=a => refused: signature | linux=a | ",
    "has a platform that another key added while that key is acceptable":
      "twoNew: K#linux=a,darwin=b linux=a; E linux=a darwin=b => served darwin=b by E, linux=a by E | linux=a darwin=b | accepted: known, accepted: new!",
    "does not have it when that key is acceptable no longer":
      "two: K#linux=a,darwin=b linux=a; E linux=a darwin=b => served linux=a by K | linux=a darwin=b | accepted: known, candidate: unknown",
    "has it where the first key signed it, too":
      "two: K#linux=a,darwin=b linux=a; K linux=a darwin=b; E linux=a darwin=b => served darwin=b by E, linux=a by E | linux=a darwin=b | accepted: known, accepted: known, accepted: same-digests!",
  },
  "an approved content": {
    "is served in place of the pinned one, under any key, and pins nothing":
      "approved: K linux=a; E linux=e => served linux=e by E | linux=a | accepted: known, accepted: approved",
    "makes no key known":
      "approvedBefore: E linux=f => refused: unknown |  | candidate: unknown",
    "is exactly that: another content of the same key beside it is a candidate":
      "approved: K linux=a; E linux=e; E linux=f => served linux=e by E | linux=a | accepted: known, accepted: approved, candidate: other-content",
    "gives way to a newer approval":
      "approvedTwice: K linux=a; E linux=e; E linux=f => served linux=f by E | linux=a | accepted: known, accepted: approved, accepted: approved",
    "gains no platforms by its own key":
      "approved: K linux=a; E linux=e; E linux=e darwin=e => served linux=e by E | linux=a | accepted: known, accepted: approved, candidate: other-content",
    "gains none by an acceptable key":
      "approved: E linux=e; K linux=e darwin=k => served linux=e by K | linux=a | accepted: approved, candidate: other-content",
    "leaves the pinned one in place under a key that an operator revoked":
      "approvedRevoked: K linux=a; E linux=e => served linux=a by K | linux=a | accepted: known, candidate: other-content",
    "leaves the pinned one in place under a key that pins exclude":
      "approvedK: K linux=a; E linux=e => served linux=a by K | linux=a | accepted: configured, candidate: other-content",
    "is served under a key that pins name":
      "approvedKE: E linux=e => served linux=e by E | linux=a | accepted: approved",
    "is not served where only named keys are taken":
      "approvedRefuse: E linux=e => refused: not-pinned |  | candidate: not-pinned",
    "is not served before it was offered":
      "approved: K linux=a => served linux=a by K | linux=a | accepted: known",
    "is served by an acceptable key over the same digests where its own signature does not hold":
      "approved: E! linux=e; K#again linux=e => served linux=e by K | linux=a | candidate: other-content",
    "is not served so by a key that is not acceptable":
      "approved: E! linux=e; E#again linux=e; K linux=a => served linux=a by K | linux=a | accepted: known, healed",
    "is not stood for by evidence that does not name it":
      "approved: E! linux=e; K darwin=b; K linux=a => served darwin=b by K, linux=a by K | darwin=b linux=a | accepted: known, accepted: known",
  },
  "a revoked content": {
    "is refused where it is pinned":
      "revoked: K linux=a => refused: revoked-content | linux=a | candidate: revoked-content",
    "is refused whoever signs it and whatever document names its archives":
      "revoked: K linux=a; E#again linux=a; K#wider linux=a darwin=b => refused: revoked-content | linux=a | candidate: revoked-content, candidate: revoked-content, candidate: revoked-content",
    "leaves what shares no archive with it":
      "revoked: K linux=a; K darwin=b => served darwin=b by K | darwin=b linux=a | candidate: revoked-content, accepted: known",
    "leaves another document that was approved itself":
      "revokedAgain: K linux=a; K#again linux=a => served linux=a by K | linux=a | candidate: revoked-content, accepted: approved",
  },
  "a refusal": {
    "is about the pinned content where some evidence names it":
      "pinned: K! linux=a; E linux=e => refused: signature | linux=a | candidate: other-content",
    "is else about the other content":
      "pinned: E linux=e => refused: other-content | linux=a | candidate: other-content",
    "is about the newest evidence whose signature holds":
      "revokedK: K linux=a; E linux=a; K! linux=a => refused: unknown | linux=a | candidate: revoked, candidate: unknown",
    "is one where its document names nothing, and no evidence holds":
      "pinnedEmpty: -! => refused: signature |  | ",
  },
  "the first key after an unsigned first contact": {
    "becomes the provider's own before its release is pinned":
      "free: E linux=a => served linux=a by E | linux=a | pinned, accepted: first-key!, first signer: E",
    "does so whatever key another provider has":
      "freeGcp: E linux=a => served linux=a by E | linux=a | pinned, accepted: first-key!, first signer: E",
    "is learnt once":
      "freeAws: E linux=a => served linux=a by E | linux=a | pinned, accepted: first-key!",
    "is the one that was offered last":
      "free: E linux=a; K linux=a => served linux=a by K | linux=a | pinned, candidate: unknown, accepted: first-key!, first signer: K",
    "is none that was revoked":
      "freeRevoked: K linux=a; E linux=a => served linux=a by K | linux=a | pinned, accepted: first-key!, candidate: revoked, first signer: K",
  },
};

describe.each(Object.entries(stories))("%s", (_, rows) => {
  it.each(Object.entries(rows))("%s", (_what, row) => {
    const [asked = "", told] = row.split(" => ");
    const [world = "", given = ""] = asked.split(/: ?(.*)/);
    expect(worlds).toHaveProperty(world);
    expect(story(given, worlds[world as keyof typeof worlds])).toBe(told);
  });
});

it("nothing more is written where nothing is new", () => {
  for (const given of ["K:known linux=a", "K:known linux=a; E! linux=e"]) {
    const release = releaseOf(read(given));
    expect(settle(question({ release })).release).toBe(release);
  }
});

/** The place of the evidence whose remedies and proofs people get. */
it.each([
  ["names the most archives", "new", "K linux=a darwin=b; K linux=a", 0],
  ["names the most and came last", "new", "K linux=a; K linux=a darwin=b", 1],
  ["came last of two that name as many", "new", "K#one linux=a; K linux=a", 1],
  [
    "is of the approved content",
    "approved",
    "E linux=e; K linux=a darwin=b",
    0,
  ],
] as const)(
  "the evidence that %s speaks for a release",
  (_, world, given, at) => {
    const known = read(given);
    const { standing } = ask(known, worlds[world]);
    expect(standing).toMatchObject({ evidence: known[at] });
  },
);

it("the age of a release is said of what is refused or only reported, and counts without a date from when it was pinned or shown", () => {
  const [lost] = read("K! linux=a");
  const age = under(9, 1);
  const refused = ask(lost ? [lost] : [], { age }).standing;
  expect(refused).toMatchObject({ age: { availableAt: later(8 * day) } });
  const reported = ask(read("K linux=a"), worlds.reported).standing;
  expect(reported).toMatchObject({ kind: "served", age: { old: false } });
  const ageAt = (terms: Partial<AgeTerms>, pinnedAt?: Date) =>
    ageOf({ age: { ...under(3, 2), ...terms } }, [unsigned()], pinnedAt);
  expect(ageAt({ now: later(3 * day) }, start)).toEqual({ old: true });
  for (const [terms, pinnedAt, days] of [
    [{}, start, 3],
    [{ seenAt: later(day) }, start, 4],
    [{ seenAt: later(day) }, undefined, 4],
  ] as const)
    expect(ageAt(terms, pinnedAt)).toEqual({
      ...{ old: false, availableAt: later(days * day) },
    });
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
