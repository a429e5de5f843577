import { resolve } from "node:path";
import type { Verb } from "./verb.ts";

/** Loads a verb when it runs, and names its inputs that are paths. */
const verbs = {
  audit: { load: async () => (await import("./audit.ts")).audit },
  compare: { load: async () => (await import("./held.ts")).compare },
  explain: { load: async () => (await import("./status.ts")).explain },
  export: {
    load: async () => (await import("./packages.ts")).exportPackages,
    paths: ["directory", "to", "oci", "bundle", "since"],
  },
  import: { load: async () => (await import("./packages.ts")).importFile },
  list: { load: async () => (await import("./held.ts")).list },
  lock: {
    load: async () => (await import("./packages.ts")).lock,
    paths: ["directories"],
  },
  prefetch: {
    load: async () => (await import("./packages.ts")).prefetch,
    paths: ["directory"],
  },
  prune: { load: async () => (await import("./upkeep.ts")).prune },
  purge: { load: async () => (await import("./held.ts")).purge },
  status: { load: async () => (await import("./status.ts")).status },
  "trust approve": { load: async () => (await import("./trust.ts")).approve },
  "trust list": { load: async () => (await import("./trust.ts")).list },
  "trust reset": { load: async () => (await import("./trust.ts")).reset },
  "trust revoke": { load: async () => (await import("./trust.ts")).revoke },
  verify: { load: async () => (await import("./upkeep.ts")).verify },
} as const;

export type VerbName = keyof typeof verbs;

type Loaded<N extends VerbName> = Awaited<
  ReturnType<(typeof verbs)[N]["load"]>
>;

/** Arguments and flags of a verb, as plain values. */
export type InputOf<N extends VerbName> = Parameters<Loaded<N>>[0];

export function isVerb(name: string): name is VerbName {
  return Object.hasOwn(verbs, name);
}

/** The verb of any name; its input was made by the same version of this program. */
export async function loadVerb(name: VerbName): Promise<Verb<object>> {
  return (await verbs[name].load()) as Verb<object>;
}

/** Returns the input with whole paths, for a process with another working directory, and the paths. */
export function resolvePaths(name: VerbName, input: object) {
  const verb: { load: unknown; paths?: readonly string[] } = verbs[name];
  const paths: string[] = [];
  const resolveOne = (path: string) => {
    paths.push(resolve(path));
    return resolve(path);
  };
  const entries = Object.entries(input).map(([key, value]) => [
    key,
    verb.paths?.includes(key) !== true
      ? (value as unknown)
      : typeof value === "string"
        ? resolveOne(value)
        : (value as readonly string[] | undefined)?.map(resolveOne),
  ]);
  const resolved = Object.fromEntries(entries) as Record<string, unknown>;
  return { input: resolved, paths };
}
