import { MemoryRim } from "../world/memory-rim.ts";
import { Publisher } from "../world/publisher.ts";
import { Registry } from "../world/registry.ts";
import type { Settings } from "../world/settings.ts";
import type { KeyName } from "../world/toy-keys.ts";
import { World } from "../world/world.ts";

/** A way to run a mirror, in which sequences are played. */
interface WorldPlan {
  readonly settings: Settings;
  /** Key that the publisher signs with at first; undefined: none. */
  readonly signer: KeyName | undefined;
  /** Processes that share one store. */
  readonly processes: number;
}

const online: Settings = {
  offline: false,
  signatures: "required",
  profile: "terraform",
  newKeys: "accept-first",
  pins: undefined,
};

const plans = {
  online: { settings: online, signer: "K1", processes: 1 },
  pins: {
    settings: { ...online, pins: ["K1"] },
    ...{ signer: "K1", processes: 1 },
  },
  accept: {
    settings: { ...online, newKeys: "accept" },
    ...{ signer: "K1", processes: 1 },
  },
  offline: {
    settings: { ...online, offline: true },
    ...{ signer: "K1", processes: 1 },
  },
  replicas: {
    settings: online,
    ...{ signer: "K1", processes: 2 },
  },
  unsigned: {
    settings: { ...online, signatures: "when-published" },
    ...{ signer: undefined, processes: 1 },
  },
} as const satisfies Readonly<Record<string, WorldPlan>>;

export type WorldName = keyof typeof plans;

export const worldNames = Object.keys(plans) as readonly WorldName[];

/** Chooses the world of a seed. */
export function worldOf(seed: number): WorldName {
  return worldNames[seed % worldNames.length] ?? "online";
}

/** Opens a world with an empty store. */
export function openWorld(name: WorldName): World {
  const { settings, signer, processes } = plans[name];
  const registry = new Registry(new Publisher(signer));
  return new World(new MemoryRim(registry, settings, processes), settings);
}
