import { resolve } from "node:path";
import type { all } from "./all.ts";

export type VerbName = keyof typeof all;

/** Inputs that are paths, which the daemon reads or writes. */
const paths: Partial<Record<VerbName, readonly string[]>> = {
  export: ["directory", "to", "oci", "bundle", "since"],
  lock: ["dir"],
  prefetch: ["directory"],
};

/** Verbs that write where they are told to: for nobody but those who could do so without the daemon. */
export const writing: ReadonlySet<string> = new Set<VerbName>([
  "export",
  "lock",
]);

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
