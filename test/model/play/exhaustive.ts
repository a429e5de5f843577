import { platforms, type ReleaseName } from "../world/documents.ts";
import type { Lie, OfferLie } from "../world/registry.ts";
import { modelTimes } from "../world/settings.ts";
import type { Action } from "./perform.ts";

const known = { type: "a", version: "1.1.0" };
const coming = { type: "a", version: "2.0.0" };
const waited: Action = { kind: "pass", milliseconds: modelTimes.outlast };

const lying = (lie: Lie): Action => ({ kind: "lie", lie });
const offering = (
  name: ReleaseName,
  content: OfferLie["content"],
  keys: OfferLie["keys"],
): Action => {
  const by = { signer: "E1", dated: "back", variant: 0 } as const;
  return lying({ kind: "offer", ...name, content, keys, ...by });
};

/** The letters of the small scope, each of one or two steps. */
const alphabet: Readonly<Record<string, readonly Action[]>> = {
  ask: [waited, { kind: "survey", type: "a", process: 0 }],
  "swap known": [offering(known, "other", "beside")],
  "swap coming": [offering(coming, "other", "instead")],
  "sign same": [offering(known, "same", "beside")],
  "take back K1": [lying({ kind: "keys", key: "K1", state: "revoked" })],
  heal: [lying({ kind: "heal" })],
  rotate: [
    { kind: "rotate" },
    { kind: "publish", ...coming, variant: 0 },
    { kind: "sign-again", ...known, variant: 0 },
  ],
  "revoke K1": [decide("revoked", "K1")],
  "approve K2": [decide("approved", "K2")],
  "approve content": [{ kind: "approve", ...known, which: 0, isPrinted: true }],
  "withdraw content": [{ kind: "withdraw", ...known, which: 0 }],
  crash: [{ kind: "crash", process: 0, writes: 0, when: "after" }],
  restart: [{ kind: "restart", process: 0 }],
};

/** Honest beginning of every sequence. */
const beginning: readonly Action[] = [
  { kind: "publish", type: "a", version: "1.0.0", variant: 0 },
  { kind: "publish", ...known, variant: 0 },
  {
    ...{ kind: "ask", face: "index", type: "a", version: "1.0.0" },
    ...{ platform: platforms[0], process: 0 },
  },
];

/** Letters that do nothing where nothing was done before. */
const undoing: ReadonlySet<string> = new Set([
  "heal",
  "withdraw content",
  "restart",
]);

/** Letters that do nothing when they come twice. */
const idempotent: ReadonlySet<string> = new Set([
  ...["swap known", "swap coming", "sign same", "take back K1"],
  ...["heal", "revoke K1", "approve K2", "crash", "restart"],
]);

/** Makes the steps of a word: an honest beginning, its letters, and a look at everything. */
export function spell(letters: readonly string[]): readonly Action[] {
  return [
    ...beginning,
    ...letters.flatMap((letter) => alphabet[letter] ?? []),
    ...(alphabet.ask ?? []),
    { kind: "recover" },
  ];
}

/** Lists all words of at most so many letters, the short ones first, but for those that do what a shorter one does. */
export function* listWords(longest: number): Generator<readonly string[]> {
  let words: readonly (readonly string[])[] = [[]];
  for (let length = 0; length <= longest; length++) {
    yield* words;
    words = words.flatMap((word) =>
      Object.keys(alphabet)
        .filter((letter) => addsTo(word, letter))
        .map((letter) => [...word, letter]),
    );
  }
}

function addsTo(word: readonly string[], letter: string): boolean {
  const last = word.at(-1);
  if (last === undefined) return !undoing.has(letter);
  return !(last === letter && idempotent.has(letter));
}

function decide(decision: "approved" | "revoked", key: "K1" | "K2"): Action {
  return { kind: "key", decision, key, scope: "namespace", name: known };
}
