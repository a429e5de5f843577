import { randomFrom } from "../random.ts";
import type { Ask } from "../world/answers.ts";
import { platforms, versions } from "../world/documents.ts";
import type { Lie, OfferLie } from "../world/registry.ts";
import { modelTimes, type WorldName } from "../world/settings.ts";
import { attackers } from "../world/toy-keys.ts";
import type { Action } from "./perform.ts";
import { ask as asked, first, known, prepare, publish } from "./plays.ts";

const contents = ["other", "same", "wider", "narrower", "mixed"] as const;
const keyStates = [
  ...(["valid", "revoked", "revoked", "expired", "garbage", "absent"] as const),
];
const hour = 3_600_000;
const pauses = [1_000, 20_000, modelTimes.outlast, hour, 26 * hour];

/** Makes the steps of a sequence from its seed alone. */
export function generate(
  seed: number,
  world: WorldName,
  steps: number,
): readonly Action[] {
  const { below, chance, choose, pick, weigh } = randomFrom(seed);
  const type = () => weigh({ a: 6, b: 3, x: 1 });
  const name = () => ({ type: type(), version: pick(versions) });
  const process = () => below(2);

  const ask = (): Ask => {
    const face = weigh({ index: 4, version: 4, archive: 1, recall: 2 });
    const about = { ...name(), platform: pick(platforms) };
    return { face, ...about, process: process() };
  };

  const offer = (): OfferLie => {
    const signers = { E: pick(attackers), K1: "K1", none: undefined } as const;
    const signer = signers[weigh({ E: 8, K1: 1, none: 1 })];
    return {
      ...{ kind: "offer", ...name(), content: pick(contents), signer },
      ...{ dated: pick(["now", "back"]), keys: pick(["beside", "instead"]) },
      variant: below(3),
    };
  };

  const lie = (): Lie =>
    choose<Lie>([
      [8, offer],
      [2, () => ({ kind: "replay", ...name(), which: below(4) })],
      [
        4,
        () => ({
          ...{ kind: "keys", key: pick(["K1", "K2"]), state: pick(keyStates) },
        }),
      ],
      [1, () => ({ kind: "hide", ...name() })],
      [
        2,
        () => ({
          ...{ kind: "fail", ...name() },
          place: pick(["list", "release", "sums"]),
          fault: pick(["gone", "down"]),
        }),
      ],
      [1, () => ({ kind: "down" })],
      [4, () => ({ kind: "heal" })],
    ]);

  const burst = (): Action => {
    const asks = Array.from({ length: 2 + below(4) }, ask);
    const midway = chance(0.4) ? lie() : undefined;
    return { kind: "burst", asks, pace: below(1_000_000), midway };
  };

  const publishing = (): Action => {
    const kind = weigh({ publish: 4, recreate: 1, widen: 1, "sign-again": 3 });
    return { kind, ...name(), variant: below(4) };
  };

  const decideKey = (): Action => ({
    kind: "key",
    decision: pick(["approved", "revoked", "undecided"]),
    key: weigh({ K1: 3, K2: 3, E1: 2 }),
    scope: pick(["namespace", "provider", "release"]),
    name: name(),
  });

  const decideContent = (): Action => {
    const about = { ...name(), which: below(4) };
    if (chance(0.3)) return { kind: "withdraw", ...about };
    return { kind: "approve", ...about, isPrinted: chance(0.7) };
  };

  const bundle = (): Action => {
    const of = type();
    const lies = chance(0.4) ? [{ ...offer(), type: of }] : [];
    const names = versions
      .filter(() => chance(0.6))
      .map((version) => ({ type: of, version }));
    return { kind: "import", names, lies, process: process() };
  };

  const configuration = (): Action => {
    const profile = pick(["terraform", "opentofu", "enforce"] as const);
    const change =
      world === "pins" || chance(0.3)
        ? { pins: pick([undefined, ["K1"], ["K2"], ["K1", "K2"]] as const) }
        : { newKeys: pick(["accept-first", "refuse"] as const) };
    return { kind: "configure", change: pick([{ profile }, change]) };
  };

  const action = (): Action =>
    choose<Action>([
      [22, () => ({ kind: "ask", ...ask() })],
      [5, burst],
      [4, () => ({ kind: "survey", type: type(), process: process() })],
      [3, () => ({ kind: "tempt", lie: offer(), process: process() })],
      [1, () => ({ kind: "recover" })],
      [world === "offline" ? 15 : 2, bundle],
      [
        1,
        () => {
          const count = pick([3, 10]);
          return { kind: "flood", lie: offer(), count, process: 0 };
        },
      ],
      [4, decideContent],
      [5, publishing],
      [1, () => ({ kind: chance(0.7) ? "rotate" : "retire" })],
      [18, () => ({ kind: "lie", lie: lie() })],
      [7, decideKey],
      [10, () => ({ kind: "pass", milliseconds: pick(pauses) })],
      [
        3,
        () => ({
          ...{ kind: "step", milliseconds: pick([-720, -1, 1, 720]) * hour },
        }),
      ],
      [4, () => ({ kind: "restart", process: process() })],
      [
        4,
        () => ({
          ...{ kind: "crash", process: below(3), writes: below(5) },
          when: pick(["before", "after"]),
        }),
      ],
      [1, () => ({ kind: "disk", isFull: chance(0.4) })],
      [1, () => ({ kind: pick(["lose", "damage"]), which: below(60) })],
      [2, configuration],
    ]);

  const actions = [
    ...[publish(first), publish(known)],
    publish({ type: "b", version: "1.0.0" }),
  ];
  // First contact is honest in most sequences.
  if (!chance(0.2)) actions.push(asked(first, pick(["index", "version"])));
  actions.push(...prepare(seed));
  while (actions.length < steps) actions.push(action());
  return [...actions, { kind: "recover" }];
}
