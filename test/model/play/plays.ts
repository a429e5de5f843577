import { randomFrom } from "../random.ts";
import type { Decision } from "../oracle/decided.ts";
import { platforms, type ReleaseName } from "../world/documents.ts";
import type { Lie, OfferLie } from "../world/registry.ts";
import { modelTimes } from "../world/settings.ts";
import type { KeyName } from "../world/toy-keys.ts";
import type { Action } from "./perform.ts";

export const first = { type: "a", version: "1.0.0" };
export const known = { type: "a", version: "1.1.0" };
const coming = { type: "a", version: "2.0.0" };
const last = { type: "a", version: "9.0.0" };

const lying = (lie: Lie): Action => ({ kind: "lie", lie });

/** Something of the attacker's under the name of a release. */
function swap(
  name: ReleaseName,
  content: OfferLie["content"],
  variant?: number,
  keys: OfferLie["keys"] = "beside",
): Action {
  const dated = variant === undefined ? "back" : "now";
  const how = { content, signer: "E1", dated, keys } as const;
  return lying({ kind: "offer", ...name, ...how, variant: variant ?? 0 });
}

export function publish(name: ReleaseName, variant = 0): Action {
  return { kind: "publish", ...name, variant };
}

export function ask(
  name: ReleaseName,
  face: "index" | "version" = "version",
): Action {
  return { kind: "ask", face, ...name, platform: platforms[0], process: 0 };
}

function decide(
  key: KeyName,
  decision: Decision,
  name = known,
  scope: "namespace" | "provider" | "release" = "namespace",
): Action {
  return { kind: "key", decision, key, scope, name };
}

const approve = (name: ReleaseName): Action => {
  return { kind: "approve", ...name, which: 0, isPrinted: true };
};

const takeBack = lying({ kind: "keys", key: "K1", state: "revoked" });
const rotate: Action = { kind: "rotate" };
const recover: Action = { kind: "recover" };
const waited: Action = { kind: "pass", milliseconds: modelTimes.outlast };

/** The letters of the small scope, each of one or two steps. */
const alphabet: Readonly<Record<string, readonly Action[]>> = {
  ask: [waited, { kind: "survey", type: "a", process: 0 }],
  "swap known": [swap(known, "other")],
  "swap coming": [swap(coming, "other", undefined, "instead")],
  "sign same": [swap(known, "same")],
  "take back K1": [takeBack],
  heal: [lying({ kind: "heal" })],
  rotate: [
    rotate,
    publish(coming),
    { kind: "sign-again", ...known, variant: 0 },
  ],
  "revoke K1": [decide("K1", "revoked")],
  "approve K2": [decide("K2", "approved")],
  "approve content": [approve(known)],
  "withdraw content": [{ kind: "withdraw", ...known, which: 0 }],
  crash: [{ kind: "crash", process: 0, writes: 0, when: "after" }],
  restart: [{ kind: "restart", process: 0 }],
};

/** Letters that do nothing where nothing was done before. */
const undoing = ["heal", "withdraw content", "restart"];

/** Letters that do nothing when they come twice. */
const idempotent = [
  ...["swap known", "swap coming", "sign same", "take back K1"],
  ...["heal", "revoke K1", "approve K2", "crash", "restart"],
];

/** Makes the steps of a word: an honest beginning, its letters, and a look at everything. */
export function spell(letters: readonly string[]): readonly Action[] {
  return [
    ...[publish(first), publish(known), ask(first, "index")],
    ...[...letters, "ask"].flatMap((letter) => alphabet[letter] ?? []),
    recover,
  ];
}

/** Lists all words of at most so many letters, the short ones first, but for those that do what a shorter one does. */
export function* listWords(longest: number): Generator<readonly string[]> {
  let words: readonly (readonly string[])[] = [[]];
  for (let length = 0; length <= longest; length++) {
    yield* words;
    words = words.flatMap((word) => {
      const last = word.at(-1);
      const idle = last === undefined ? undoing : idempotent;
      return Object.keys(alphabet)
        .filter((next) => !idle.includes(next) || (last ?? next) !== next)
        .map((next) => [...word, next]);
    });
  }
}

/** Longer than a date may be ahead, so that nothing new looks as old as first contact. */
const later: Action = { kind: "pass", milliseconds: 26 * 3_600_000 };
const asked = [later, ask(first)];
const other = ask(known);
const seen = [later, ask(last)];
const of = (version: string) => ({ type: "b", version });
type Decide = (key: KeyName, decision: Decision, about?: ReleaseName) => Action;

/** Turns of events that chance hardly brings about. */
const plays: Readonly<
  Record<number, (decide: Decide, variant: number) => readonly Action[]>
> = {
  /**
   * A publisher adds an archive while an operator refuses its key. The registry takes that key back, the operator the
   * decision, and the key that succeeds it signs again, alone: it is the only good witness of what was added.
   */
  7: (decide, variant) => [
    ...[...asked, decide("K1", "revoked")],
    ...[{ kind: "widen", ...first, variant } as const, ...asked],
    takeBack,
    ...[...asked, ...asked, decide("K1", "undecided"), rotate],
    { kind: "sign-again", ...first, variant },
    ...[...asked, ...asked],
  ],
  /** The same before anything of the release was admitted; the key that succeeds it makes the release anew. */
  9: (decide, variant) => [
    ...[...asked, decide("K1", "revoked", last)],
    ...[publish(last, variant), ...seen],
    takeBack,
    ...[...seen, ...seen, decide("K1", "undecided", last), ...seen],
    ...[rotate, { kind: "retire" } as const],
    ...[{ kind: "recreate", ...last, variant } as const, ...seen],
    ...[decide("K2", "approved", last), ...seen],
    recover,
  ],
  /** A key that is approved for a while adds an archive. */
  3: (decide, variant) => [
    ...[...asked, rotate, { kind: "widen", ...first, variant } as const],
    ...[...asked, decide("K2", "approved"), ...asked],
    ...[decide("K2", "undecided"), ...asked, ...asked],
  ],
  /** A content is approved, and then its key is revoked. */
  2: (decide, variant) => [
    ...[...asked, swap(first, "other", variant)],
    ...[...asked, approve(first), ...asked, decide("E1", "revoked")],
    ...[...asked, ...asked],
  ],
  /** A content is approved, of which the document names other releases, too. */
  4: (_, variant) => [
    ...[...asked, other],
    ...[swap(first, "shared", variant), swap(known, "shared", variant)],
    ...[...asked, other, approve(first), ...asked, other],
  ],
  /** A provider is met under a second key, which then signs its next release. */
  5: (_, variant) => [
    ...[...asked, rotate],
    publish(of("2.0.0"), variant),
    ...[later, ask(of("2.0.0"))],
    publish(of("9.0.0"), variant),
    ...[later, recover],
  ],
};

/** Begins some sequences with one of these plays. */
export function prepare(seed: number): readonly Action[] {
  const { below, pick } = randomFrom(-seed);
  const scope = pick(["namespace", "provider", "release"] as const);
  const decideIn: Decide = (key, decision, about = first) =>
    decide(key, decision, about, scope);
  return plays[seed % 11]?.(decideIn, below(2)) ?? [];
}
