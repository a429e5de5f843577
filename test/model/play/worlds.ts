import type { Settings } from "../world/settings.ts";
import type { KeyName } from "../world/toy-keys.ts";

/** A way to run a mirror, in which sequences are played. */
export interface WorldPlan {
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
  shared: false,
};

export const worlds = {
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
    settings: { ...online, shared: true },
    ...{ signer: "K1", processes: 2 },
  },
  unsigned: {
    settings: { ...online, signatures: "when-published" },
    ...{ signer: undefined, processes: 1 },
  },
} as const satisfies Readonly<Record<string, WorldPlan>>;

export type WorldName = keyof typeof worlds;

/** Chooses the world of a seed. */
export function worldOf(seed: number): WorldName {
  return worldNames[seed % worldNames.length] ?? "online";
}

export const worldNames = Object.keys(worlds) as readonly WorldName[];
