import { isDeepStrictEqual } from "node:util";
import type { Configuration } from "./configuration.ts";
import type { Path } from "./yaml-document.ts";

/**
 * Keys of the contract that this version does not act on. Any value but the default is refused,
 * because a security setting that is silently ignored is worse than an error.
 */
const notYet = ["platforms"] as const;

type Keys = Pick<Configuration, "origins" | "platforms" | "auth">;

/** The paths of what is set and not available. */
export function findUnavailable(set: Keys, defaults: Keys): Path[] {
  return notYet
    .flatMap((key) => expand(key, set))
    .filter(
      (path) => !isDeepStrictEqual(valueAt(set, path), valueAt(defaults, path)),
    );
}

function expand(key: string, set: Keys): Path[] {
  const path = key.split(".");
  if (!path.includes("*")) return [path];
  return [...set.origins.keys()].map((hostname) =>
    path.map((step) => (step === "*" ? hostname : step)),
  );
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((parent, step) => {
    if (parent instanceof Map) return parent.get(step) as unknown;
    return (parent as Record<string, unknown> | undefined)?.[step];
  }, value);
}
