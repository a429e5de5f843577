import { resolve } from "node:path";
import type { all } from "./all.ts";

export type VerbName = keyof typeof all;

/** Inputs that are paths, which the daemon reads or writes. */
const paths: Partial<Record<VerbName, readonly string[]>> = {
  export: ["directory", "to", "oci", "bundle", "since"],
  prefetch: ["directory"],
};

/** True where the daemon would read or write what the input says. */
export function namesPaths(name: string, input: object): boolean {
  const named = Object.entries(input).flatMap(([key, value]) =>
    paths[name as VerbName]?.includes(key) === true ? (value as unknown) : [],
  );
  return named.some((path) => path !== undefined);
}

/** Returns the input with whole paths, for a process with another working directory. */
export function resolvePaths(
  name: VerbName,
  input: object,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(input).map(([key, value]) => [
    key,
    paths[name]?.includes(key) !== true
      ? (value as unknown)
      : typeof value === "string"
        ? resolve(value)
        : (value as readonly string[] | undefined)?.map((path) =>
            resolve(path),
          ),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}
