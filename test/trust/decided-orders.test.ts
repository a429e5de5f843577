import { describe, expect, it } from "vitest";
import {
  decide,
  forget,
  noDecisions,
  type Decision,
  type Decisions,
} from "../../src/trust/decisions.ts";
import { ask, byE, tell } from "./asking.ts";
import {
  day,
  E,
  evidence,
  K,
  keyDecision,
  later,
  namespace,
  pinned,
  start,
} from "./releases.ts";

const deeds = {
  approve: "approved",
  revoke: "revoked",
  forget: undefined,
} as const;
type Deed = keyof typeof deeds;
const each = Object.keys(deeds) as Deed[];
const orders = each.flatMap((one) =>
  each.flatMap((two) => [
    [one, two],
    ...each.map((three) => [one, two, three]),
  ]),
);

const name = { type: "aws", version: "2.0.0" };
const release = { known: evidence(), stranger: byE("linux=e") };
const at = start.toISOString();

interface Row {
  readonly of: string;
  readonly by: keyof typeof release;
  readonly carryOut: (
    decisions: Decisions,
    decision: Decision | undefined,
  ) => Decisions;
  /** What clients get of the release: approved, revoked, undecided. */
  readonly served: readonly [string, string, string];
  readonly young: readonly [string, string, string];
}

/** What a decision on a key is for. */
const scopes = [
  { of: "the namespace", type: null, version: null },
  { of: "the provider", type: name.type, version: null },
  { of: "the release", ...name },
] as const;

const ofKey =
  (fingerprint: string, scope: (typeof scopes)[number]): Row["carryOut"] =>
  (decisions, decision) => {
    const { type, version } = scope;
    const said = decision ?? "approved";
    const key = keyDecision(fingerprint, said, { type, version });
    return decision === undefined
      ? forget(decisions, key)
      : decide(decisions, key);
  };

const ofContent =
  ({ sha256sums }: { readonly sha256sums: string }): Row["carryOut"] =>
  (decisions, decision) =>
    decision === undefined
      ? forget(decisions, { ...name, sha256sums })
      : decide(decisions, { ...name, sha256sums, decision, at });

const [byKnown, byStranger] = ["served linux=a by K", "served linux=e by E"];
const [revoked, unknown] = ["refused: revoked", "refused: unknown"];
const [bad, age] = ["refused: revoked-content", "refused: age"];

const rows: readonly Row[] = [
  ...scopes.flatMap((scope): readonly Row[] => [
    {
      of: `a stranger's key for ${scope.of}`,
      by: "stranger",
      carryOut: ofKey(E, scope),
      served: [byStranger, revoked, unknown],
      young: [age, revoked, unknown],
    },
    {
      of: `the key of first contact for ${scope.of}`,
      by: "known",
      carryOut: ofKey(K, scope),
      served: [byKnown, revoked, byKnown],
      young: [age, revoked, age],
    },
  ]),
  {
    of: "a stranger's content",
    by: "stranger",
    carryOut: ofContent(release.stranger),
    served: [byStranger, bad, unknown],
    young: [byStranger, bad, unknown],
  },
  {
    of: "a content of the publisher's",
    by: "known",
    carryOut: ofContent(release.known),
    served: [byKnown, bad, byKnown],
    young: [byKnown, bad, age],
  },
];

const terms = {
  ...{ minimumAge: 0, isUnlisted: false, seenAt: start, now: later(day) },
};

describe.each(rows)("decisions on $of", ({ by, carryOut, served, young }) => {
  const states: readonly (Decision | undefined)[] = Object.values(deeds);

  it.each([
    ["without a minimum age", 0, served],
    ["under a minimum age", 9 * day, young],
  ] as const)(
    "say by the last one alone what clients get %s",
    (_, minimumAge, answers) => {
      for (const order of orders) {
        let decisions = noDecisions;
        const told = order.map((deed) => {
          decisions = carryOut(decisions, deeds[deed]);
          const asked = { age: { ...terms, minimumAge } };
          const trust = { namespace: namespace({ decisions }) };
          return tell(ask([release[by]], { ...asked, ...trust }));
        });
        expect(told).toEqual(
          order.map((deed) => answers[states.indexOf(deeds[deed])]),
        );
        if (order.at(-1) === "forget") expect(decisions).toEqual(noDecisions);
      }
    },
  );
});

describe("a revoked content", () => {
  const revoke = (...digests: string[]) => ({
    namespace: namespace({
      decisions: {
        keys: [],
        contents: digests.map((sha256sums) => ({
          ...{ ...name, sha256sums, at, decision: "revoked" as const },
        })),
      },
    }),
  });
  const first = { pinned: pinned("linux=a") };

  it("is refused where it is pinned, whoever signs it and whatever document names its archives", () => {
    const { known } = release;
    const asked = { ...first, ...revoke(known.sha256sums) };
    const again = evidence({ ...byE("linux=a"), sha256sums: "another" });
    const wider = evidence({
      content: new Map([...known.content, ...byE("darwin=b").content]),
    });
    expect(tell(ask([known], asked))).toBe(bad);
    expect(
      tell(ask([known, again, { ...wider, sha256sums: "wider" }], asked)),
    ).toBe(bad);
    expect(
      tell(ask([known, evidence({ content: byE("darwin=b").content })], asked)),
    ).toBe("served darwin=b by K");
  });

  it("is a candidate that nobody has to decide on", () => {
    const settled = ask([release.known], {
      ...first,
      ...revoke(release.known.sha256sums),
    });
    expect(settled.events).toMatchObject([
      { kind: "candidate", reason: "revoked-content" },
    ]);
  });
});
