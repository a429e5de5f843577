import { MemoryRim } from "../world/memory-rim.ts";
import { Publisher } from "../world/publisher.ts";
import { Registry } from "../world/registry.ts";
import type { Rim } from "../world/rim.ts";
import { modelTimes, type Settings } from "../world/settings.ts";
import type { KeyName } from "../world/toy-keys.ts";
import { World } from "../world/world.ts";

/** A way to run a mirror, in which sequences are played. */
interface WorldPlan {
  readonly settings: Settings;
  /** Key that the publisher signs with at first; undefined: none. */
  readonly signer: KeyName | undefined;
  /** Processes that share one store. */
  readonly processes: number;
  /** Real processes, on a store of theirs or on a bucket; undefined: all of it is in memory. */
  readonly place?: "directory" | "bucket";
}

const online: Settings = {
  offline: false,
  signatures: "required",
  profile: "terraform",
  newKeys: "accept-first",
  pins: undefined,
  shared: false,
  times: modelTimes,
};

const modelled = {
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

/** A second of real time stands for a period of freshness. */
const realTimes: Settings["times"] = {
  freshness: {
    versions: 1_000,
    staleFor: modelTimes.freshness.staleFor,
    notFound: 1_000,
  },
  outlast: 1_200,
  noticed: 2_000,
  settled: 2_500,
  decided: 1_000,
};

/** Replicas hear of each other by the bucket, once a second. */
const bucketTimes = { ...realTimes, outlast: 2_400, decided: 2_400 };

const real = {
  daemon: {
    settings: { ...online, times: realTimes },
    ...{ signer: "K1", processes: 1, place: "directory" },
  },
  "daemon-offline": {
    settings: { ...online, offline: true, times: realTimes },
    ...{ signer: "K1", processes: 1, place: "directory" },
  },
  "daemon-replicas": {
    settings: { ...online, shared: true, times: bucketTimes },
    ...{ signer: "K1", processes: 2, place: "bucket" },
  },
} as const satisfies Readonly<Record<string, WorldPlan>>;

const worlds: Readonly<Record<WorldName, WorldPlan>> = { ...modelled, ...real };

export type WorldName = keyof typeof modelled | keyof typeof real;

/** Worlds of real processes, which take a second where others take a microsecond. */
export const realNames = Object.keys(real) as readonly WorldName[];

export const worldNames = Object.keys(worlds) as readonly WorldName[];

/** Chooses the world of a seed, among those in memory. */
export function worldOf(seed: number): WorldName {
  const names = Object.keys(modelled) as readonly WorldName[];
  return names[seed % names.length] ?? "online";
}

/** Opens a world with an empty store. */
export async function openWorld(name: WorldName): Promise<World> {
  const plan = worlds[name];
  const registry = new Registry(new Publisher(plan.signer));
  return new World(await openRim(plan, registry), plan.settings);
}

async function openRim(
  { settings, processes, place }: WorldPlan,
  registry: Registry,
): Promise<Rim> {
  if (place === undefined) return new MemoryRim(registry, settings, processes);
  const { DaemonRim } = await import("../daemon/daemon-rim.ts");
  return DaemonRim.open(registry, settings, processes, place);
}
