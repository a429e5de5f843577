import type { Version } from "../../address/version.ts";
import {
  displayProvider,
  type ProviderLock,
} from "../inputs/dependency-lock-file.ts";

/** The content of a provider's entry; `name` is HOSTNAME/NAMESPACE/TYPE. */
export interface LockEntry {
  readonly name: string;
  readonly version: Version;
  /** Constraints in canonical form; undefined when any version is allowed. */
  readonly constraints: string | undefined;
  readonly hashes: readonly string[];
}

/** Adds `entries` to those of a file. Version and constraints of an entry that is there already stay as they are. */
export function mergeEntries(
  locks: readonly LockEntry[],
  entries: readonly LockEntry[],
): readonly LockEntry[] {
  const merged = new Map(locks.map((lock) => [lock.name, lock]));
  for (const entry of entries) {
    const lock = merged.get(entry.name) ?? entry;
    const hashes = [...lock.hashes, ...entry.hashes];
    merged.set(entry.name, { ...lock, hashes });
  }
  return [...merged.values()];
}

/** Writes a whole file as `client` does (depsfile, "SaveLocksToBytes"). */
export function formatLockFile(
  client: "terraform" | "tofu",
  entries: readonly LockEntry[],
): string {
  const blocks = entries
    .toSorted((a, b) => compareNames(a.name, b.name))
    .map((entry) => `\n${formatEntry(entry)}\n`);
  return `# This file is maintained automatically by "${client} init".\n# Manual edits may be lost in future updates.\n${blocks.join("")}`;
}

/** Lists the hashes that the file's entry lacks, sorted. */
export function missingHashes(
  lock: Pick<ProviderLock, "hashes">,
  hashes: readonly string[],
): readonly string[] {
  const known = new Set(lock.hashes);
  return [...new Set(hashes)].filter((hash) => !known.has(hash)).toSorted();
}

/** Orders addresses by hostname, then namespace, then type. */
function compareNames(a: string, b: string): number {
  const [as, bs] = [a.split("/"), b.split("/")];
  const index = as.findIndex((part, position) => part !== bs[position]);
  return index < 0 ? 0 : (as[index] ?? "") < (bs[index] ?? "") ? -1 : 1;
}

function formatEntry({
  name,
  version,
  constraints,
  hashes,
}: LockEntry): string {
  const lines =
    constraints === undefined
      ? [`  version = "${version}"`]
      : [`  version     = "${version}"`, `  constraints = "${constraints}"`];
  const list = hashes.length === 0 ? [] : [formatHashes(hashes)];
  return [`provider "${displayProvider(name)}" {`, ...lines, ...list, "}"].join(
    "\n",
  );
}

function formatHashes(hashes: readonly string[]): string {
  const sorted = [...new Set(hashes)].toSorted();
  const items = sorted.map((hash) => `    "${hash}",\n`);
  return `  hashes = [\n${items.join("")}  ]`;
}
