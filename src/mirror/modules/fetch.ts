import {
  parseModuleSource,
  type ArchiveSource,
  type GitSource,
  type ModuleSource,
} from "../../address/module-source.ts";
import { ModuleSourceRefused, NotFound } from "../../errors/index.ts";
import type { ModuleRegistry } from "../../origin/registries/module-registry.ts";
import type { ModuleSources } from "../../origin/registries/module-sources.ts";
import type { Clock } from "../cache/clock.ts";
import type { ModuleStart } from "./archives.ts";
import type { Packer } from "./packing/packer.ts";
import {
  formatModuleRelease,
  type ModuleRelease,
  type ModuleReleaseAddress,
} from "./release.ts";

/** One configured origin of modules. */
export interface ModuleOrigin {
  readonly registry: Pick<ModuleRegistry, "listVersions" | "findLocation">;
  /** Asked without the registry's credentials. */
  readonly sources: ModuleSources;
  /** Milliseconds for which a list is good, if not as long as others are. */
  readonly freshFor?: number | undefined;
  readonly packing: Packer;
  readonly clock: Clock;
}

/** Waited for before the release is answered with. */
type OnMoved = (expected: string, got: string) => Promise<void>;

/**
 * Where the registry says that a release is now. What was seen first outlives its removal, a new place that is refused, and a ref that
 * moved. Throws ModuleSourceRefused and the origin's failures.
 */
export async function fetchModuleRelease(
  { registry, sources }: ModuleOrigin,
  { module, version }: ModuleReleaseAddress,
  known: ModuleRelease | undefined,
  signal: AbortSignal,
  onMoved: OnMoved,
): Promise<ModuleRelease> {
  try {
    const found = await registry.findLocation(module, version, signal);
    const place = { location: found.location, base: found.base.href };
    const source = sourceOf({ module, version }, place);
    const commit =
      source.kind === "git"
        ? await sources.findCommit(source, signal)
        : undefined;
    const release = { ...place, commit, moved: undefined };
    return known === undefined
      ? release
      : await keepFirst(known, release, onMoved);
  } catch (error) {
    const isGone =
      error instanceof NotFound || error instanceof ModuleSourceRefused;
    if (known !== undefined && isGone) return known;
    throw error;
  }
}

async function keepFirst(
  known: ModuleRelease,
  now: ModuleRelease,
  onMoved: OnMoved,
): Promise<ModuleRelease> {
  const { commit } = now;
  if (known.commit === undefined || commit === undefined)
    return { ...now, commit: known.commit ?? commit };
  if (known.commit === commit) return now;
  if (known.moved !== commit)
    await onMoved(`commit ${known.commit}`, `commit ${commit}`);
  return { ...known, moved: commit };
}

/** Throws ModuleSourceRefused. */
export function sourceOf(
  address: ModuleReleaseAddress,
  { location, base }: Pick<ModuleRelease, "location" | "base">,
): ModuleSource {
  return parseModuleSource(formatModuleRelease(address), location, base);
}

/** How the mirror gets what it will store of a source. */
export function startOf(
  { sources, packing }: ModuleOrigin,
  address: ModuleReleaseAddress,
  source: ArchiveSource | GitSource,
  commit: string | undefined,
): ModuleStart {
  const { hostname } = address.module;
  const name = formatModuleRelease(address);
  const { subdirectory } = source;
  if (source.kind === "archive")
    return {
      ...source,
      hostname,
      host: source.url.host,
      open: async (signal) => {
        const ending = new AbortController();
        const either = AbortSignal.any([signal, ending.signal]);
        const opened = await sources.openArchive(source, name, either);
        const close = () => {
          ending.abort();
          return Promise.resolve();
        };
        return { ...opened, commit: undefined, close };
      },
    };
  return {
    hostname,
    host: source.url.host,
    format: "tar.gz",
    subdirectory,
    checksum: undefined,
    open: async (signal) => {
      const checkout = await sources.fetchCommit(source, commit, signal);
      const body = packing.pack(name, checkout);
      const close = () => checkout.close();
      return { body, size: undefined, commit: checkout.commit, close };
    },
  };
}
