import { randomFrom } from "../random.ts";
import type { Decision } from "../oracle/decided.ts";
import { platforms, type ReleaseName } from "../world/documents.ts";
import type { Lie, OfferLie } from "../world/registry.ts";
import type { KeyName } from "../world/toy-keys.ts";
import type { Action } from "./perform.ts";

const name = { type: "a", version: "1.0.0" };
const beside = { type: "a", version: "1.1.0" };
const coming = { type: "a", version: "9.0.0" };

/** Longer than a date may be ahead, so that nothing new looks as old as first contact. */
const later: Action = { kind: "pass", milliseconds: 26 * 3_600_000 };
const asked: readonly Action[] = [later, ask("a", "1.0.0")];
const other: readonly Action[] = [ask("a", "1.1.0")];
const seen: readonly Action[] = [later, ask("a", "9.0.0")];
const approve: Action = { kind: "approve", ...name, which: 0, isPrinted: true };

function ask(type: string, version: string): Action {
  const at = { platform: platforms[0], process: 0 };
  return { kind: "ask", face: "version", type, version, ...at };
}

type Decide = (key: KeyName, decision: Decision, about?: ReleaseName) => Action;

const rotate: Action = { kind: "rotate" };
const takeBack = lying({ kind: "keys", key: "K1", state: "revoked" });

function lying(lie: Lie): Action {
  return { kind: "lie", lie };
}

function offer(
  name: ReleaseName,
  content: OfferLie["content"],
  variant: number,
): Action {
  const by = { signer: "E1", dated: "now", keys: "beside" } as const;
  return lying({ kind: "offer", ...name, content, ...by, variant });
}

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
    ...[{ kind: "widen", ...name, variant } as const, ...asked],
    takeBack,
    ...[...asked, ...asked, decide("K1", "undecided"), rotate],
    { kind: "sign-again", ...name, variant },
    ...[...asked, ...asked],
  ],
  /** The same before anything of the release was admitted; the key that succeeds it makes the release anew. */
  9: (decide, variant) => [
    ...[...asked, decide("K1", "revoked", coming)],
    ...[{ kind: "publish", ...coming, variant } as const, ...seen],
    takeBack,
    ...[...seen, ...seen, decide("K1", "undecided", coming), ...seen],
    ...[rotate, { kind: "retire" } as const],
    ...[{ kind: "recreate", ...coming, variant } as const, ...seen],
    ...[decide("K2", "approved", coming), ...seen],
    { kind: "recover" },
  ],
  /** A key that is approved for a while adds an archive. */
  3: (decide, variant) => [
    ...[...asked, rotate, { kind: "widen", ...name, variant } as const],
    ...[...asked, decide("K2", "approved"), ...asked],
    ...[decide("K2", "undecided"), ...asked, ...asked],
  ],
  /** A content is approved, and then its key is revoked. */
  2: (decide, variant) => [
    ...[...asked, offer(name, "other", variant)],
    ...[...asked, approve, ...asked, decide("E1", "revoked")],
    ...[...asked, ...asked],
  ],
  /** A content is approved, of which the document names other releases, too. */
  4: (_, variant) => [
    ...[...asked, ...other],
    ...[offer(name, "shared", variant), offer(beside, "shared", variant)],
    ...[...asked, ...other, approve, ...asked, ...other],
  ],
  /** A provider is met under a second key, which then signs its next release. */
  5: (_, variant) => [
    ...[...asked, rotate],
    { kind: "publish", type: "b", version: "2.0.0", variant },
    ...[later, ask("b", "2.0.0")],
    { kind: "publish", type: "b", version: "9.0.0", variant },
    ...[later, { kind: "recover" } as const],
  ],
};

/** Begins some sequences with one of these plays. */
export function prepare(seed: number): readonly Action[] {
  const { below, pick } = randomFrom(-seed);
  const scope = pick(["namespace", "provider", "release"] as const);
  const decide: Decide = (key, decision, about = name) => {
    return { kind: "key", decision, key, scope, name: about };
  };
  return plays[seed % 11]?.(decide, below(2)) ?? [];
}
