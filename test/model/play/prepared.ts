import { Random } from "../random.ts";
import type { Action, KeyScopeName } from "../world/actions.ts";
import { platforms } from "../world/documents.ts";
import type { KeyName } from "../world/toy-keys.ts";

const name = { type: "a", version: "1.0.0" };

/** Longer than a date may be ahead, so that nothing new looks as old as first contact. */
const later: Action = { kind: "pass", milliseconds: 26 * 3_600_000 };
const asked: readonly Action[] = [later, ask(name.type, name.version)];

function ask(type: string, version: string): Action {
  const face = "version";
  return {
    kind: "ask",
    face,
    type,
    version,
    platform: platforms[0],
    process: 0,
  };
}

type Decide = (
  key: KeyName,
  decision: "approved" | "revoked" | "undecided",
) => Action;

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
    { kind: "keys", key: "K1", state: "revoked" },
    ...[...asked, ...asked, decide("K1", "undecided")],
    ...[
      { kind: "rotate" } as const,
      { kind: "sign-again", ...name, variant } as const,
    ],
    ...[...asked, ...asked],
  ],
  /** A key that is approved for a while adds an archive. */
  3: (decide, variant) => [
    ...[...asked, { kind: "rotate" } as const, decide("K2", "approved")],
    ...[{ kind: "widen", ...name, variant } as const, ...asked],
    ...[decide("K2", "undecided"), ...asked, ...asked],
  ],
  /** A provider is met under a second key, which then signs its next release. */
  5: (_, variant) => [
    ...[...asked, { kind: "rotate" } as const],
    { kind: "publish", type: "b", version: "2.0.0", variant },
    ...[later, ask("b", "2.0.0")],
    { kind: "publish", type: "b", version: "9.0.0", variant },
    ...[later, { kind: "recover" } as const],
  ],
};

/** Begins some sequences with one of these plays. */
export function prepare(seed: number): readonly Action[] {
  const random = new Random(-seed);
  const scope = random.pick<KeyScopeName>(["namespace", "provider", "release"]);
  const decide: Decide = (key, decision) => {
    return { kind: "key", decision, key, scope, name };
  };
  return plays[seed % 11]?.(decide, random.below(2)) ?? [];
}
