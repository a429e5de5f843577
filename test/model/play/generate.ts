import { Random } from "../random.ts";
import type { Action, Lie, LyingContent, OfferLie } from "../world/actions.ts";
import {
  types,
  versions,
  platforms,
  type ReleaseName,
} from "../world/documents.ts";
import { modelTimes } from "../world/settings.ts";
import { attackers, type KeyName } from "../world/toy-keys.ts";

import type { Ask } from "../world/mirror-process.ts";
import { prepare } from "./prepared.ts";
import type { WorldName } from "./worlds.ts";

const contents: readonly LyingContent[] = [
  "other",
  "same",
  "wider",
  "narrower",
  "mixed",
];
const hour = 3_600_000;

/** Makes the steps of a sequence from its seed alone. */
export function generate(
  seed: number,
  world: WorldName,
  steps: number,
): readonly Action[] {
  const random = new Random(seed);
  const actions: Action[] = begin(random);
  actions.push(...prepare(seed));
  while (actions.length < steps) actions.push(makeAction(random, world));
  return [...actions, { kind: "recover" }];
}

/** Publishes something; first contact is honest in most sequences. */
function begin(random: Random): Action[] {
  const publish = (type: string, version: string): Action => ({
    ...{ kind: "publish", type, version, variant: 0 },
  });
  const published = [
    publish("a", "1.0.0"),
    publish("a", "1.1.0"),
    publish("b", "1.0.0"),
  ];
  if (random.chance(0.2)) return published;
  const name = { type: "a", version: "1.0.0" };
  const platform = platforms[0];
  const asked = { ...name, platform, process: 0 };
  return [
    ...published,
    { kind: "ask", face: random.pick(["index", "version"]), ...asked },
  ];
}

function makeAction(random: Random, world: WorldName): Action {
  const kinds: readonly (readonly [number, () => Action])[] = [
    [22, () => ({ kind: "ask", ...makeAsk(random), process: random.below(2) })],
    [5, () => makeBurst(random)],
    [
      4,
      () => ({
        kind: "survey",
        type: pickType(random),
        process: random.below(2),
      }),
    ],
    [
      3,
      () => ({
        kind: "tempt",
        lie: makeOffer(random),
        process: random.below(2),
      }),
    ],
    [1, () => ({ kind: "recover" })],
    [world === "offline" ? 15 : 2, () => makeImport(random)],
    [1, () => makeFlood(random)],
    [4, () => makeContentDecision(random)],
    [5, () => makePublishing(random)],
    [1, () => ({ kind: random.chance(0.7) ? "rotate" : "retire" })],
    [18, () => makeLie(random)],
    [7, () => makeKeyDecision(random)],
    [10, () => ({ kind: "pass", milliseconds: makePause(random) })],
    [
      3,
      () => ({
        kind: "step",
        milliseconds: random.pick([-720, -1, 1, 720]) * hour,
      }),
    ],
    [4, () => ({ kind: "restart", process: random.below(2) })],
    [4, () => makeCrash(random)],
    [1, () => ({ kind: "disk", isFull: random.chance(0.4) })],
    [
      1,
      () => ({
        kind: random.pick(["lose", "damage"]),
        which: random.below(60),
      }),
    ],
    [2, () => makeConfiguration(random, world)],
  ];
  return random.weigh(kinds)();
}

function pickName(random: Random): ReleaseName {
  return { type: pickType(random), version: random.pick(versions) };
}

function pickType(random: Random): string {
  return random.weigh([
    [6, types[0]],
    [3, types[1]],
    [1, types[2]],
  ]);
}

function makeAsk(random: Random): Ask {
  const face = random.weigh([
    [4, "index" as const],
    [4, "version" as const],
    [1, "archive" as const],
    [2, "recall" as const],
  ]);
  return { face, ...pickName(random), platform: random.pick(platforms) };
}

function makeBurst(random: Random): Action {
  const asks = Array.from({ length: 2 + random.below(4) }, () => ({
    ...makeAsk(random),
    process: random.below(2),
  }));
  const midway = random.chance(0.4) ? makeLie(random) : undefined;
  return { kind: "burst", asks, pace: random.below(1_000_000), midway };
}

function makePublishing(random: Random): Action {
  const kind = random.weigh([
    [4, "publish" as const],
    [1, "recreate" as const],
    [1, "widen" as const],
    [3, "sign-again" as const],
  ]);
  return { kind, ...pickName(random), variant: random.below(4) };
}

function makeLie(random: Random): Lie {
  const kinds: readonly (readonly [number, () => Lie])[] = [
    [8, () => makeOffer(random)],
    [
      2,
      () => ({ kind: "replay", ...pickName(random), which: random.below(4) }),
    ],
    [
      4,
      () => ({
        kind: "keys",
        key: random.pick(["K1", "K2"]),
        state: random.pick([
          "valid",
          "revoked",
          "revoked",
          "expired",
          "garbage",
          "absent",
        ]),
      }),
    ],
    [1, () => ({ kind: "hide", ...pickName(random) })],
    [
      2,
      () => ({
        kind: "fail",
        ...pickName(random),
        place: random.pick(["list", "release", "sums"]),
        fault: random.pick(["gone", "down"]),
      }),
    ],
    [1, () => ({ kind: "down" })],
    [4, () => ({ kind: "heal" })],
  ];
  return random.weigh(kinds)();
}

function makeOffer(random: Random): OfferLie {
  const signer = random.weigh<KeyName | undefined>([
    [8, random.pick(attackers)],
    [1, "K1"],
    [1, undefined],
  ]);
  return {
    kind: "offer",
    ...pickName(random),
    ...{ content: random.pick(contents), signer },
    dated: random.pick(["now", "back"]),
    keys: random.pick(["beside", "instead"]),
    variant: random.below(3),
  };
}

function makeKeyDecision(random: Random): Action {
  return {
    kind: "key",
    decision: random.pick(["approved", "revoked", "undecided"]),
    key: random.weigh<KeyName>([
      [3, "K1"],
      [3, "K2"],
      [2, "E1"],
    ]),
    scope: random.pick(["namespace", "provider", "release"]),
    name: pickName(random),
  };
}

function makeContentDecision(random: Random): Action {
  const name = pickName(random);
  const which = random.below(4);
  if (random.chance(0.3)) return { kind: "withdraw", ...name, which };
  const isPrinted = random.chance(0.7);
  return { kind: "approve", ...name, which, isPrinted };
}

function makeImport(random: Random): Action {
  const type = pickType(random);
  const isTaken = () => random.chance(0.6);
  const lies = random.chance(0.4) ? [{ ...makeOffer(random), type }] : [];
  return {
    kind: "import",
    names: versions.filter(isTaken).map((version) => ({ type, version })),
    ...{ lies, process: random.below(2) },
  };
}

function makeFlood(random: Random): Action {
  const count = random.pick([3, 10]);
  return { kind: "flood", lie: makeOffer(random), count, process: 0 };
}

function makePause(random: Random): number {
  return random.pick([1_000, 20_000, modelTimes.outlast, hour, 26 * hour]);
}

function makeCrash(random: Random): Action {
  return {
    kind: "crash",
    process: random.below(3),
    writes: random.below(5),
    when: random.pick(["before", "after"]),
  };
}

function makeConfiguration(random: Random, world: WorldName): Action {
  const changes = [
    { profile: random.pick(["terraform", "opentofu", "enforce"] as const) },
    world === "pins" || random.chance(0.3)
      ? {
          pins: random.pick([undefined, ["K1"], ["K2"], ["K1", "K2"]] as const),
        }
      : { newKeys: random.pick(["accept-first", "refuse"] as const) },
  ];
  return { kind: "configure", change: random.pick(changes) };
}
