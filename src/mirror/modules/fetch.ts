import { hash } from "node:crypto";
import {
  parseModuleSource,
  withoutQuery,
  type ArchiveSource,
  type GitSource,
  type ModuleSource,
} from "../../address/module-source.ts";
import { isFailure } from "../../errors/index.ts";
import type {
  ModuleRegistry,
  ModuleSources,
} from "../../origin/registries/module-registry.ts";
import type { Clock } from "../cache/clock.ts";
import type { ModuleStart } from "./archives.ts";
import type { GitPacker } from "./git-packing.ts";
import {
  formatModuleRelease,
  makeOffer,
  type ModuleOffer,
  type ModulePlace,
  type ModuleRelease,
  type ModuleReleaseAddress,
} from "./release.ts";

/** One configured origin of modules. */
export interface ModuleOrigin {
  readonly registry: Pick<ModuleRegistry, "listVersions" | "findLocation"> &
    Partial<Pick<ModuleRegistry, "listDates">>;
  /** Asked without the registry's credentials. */
  readonly sources: ModuleSources;
  /** Milliseconds for which a list is fresh, if not the default. */
  readonly freshFor?: number | undefined;
  readonly packing: GitPacker;
  readonly clock: Clock;
}

/** Asks the registry where a release is now. The last place outlives its removal, and a new one that is refused. */
export async function fetchModuleRelease(
  { registry, sources }: ModuleOrigin,
  address: ModuleReleaseAddress,
  known: ModuleRelease | undefined,
  signal: AbortSignal,
): Promise<ModuleRelease> {
  const { module, version } = address;
  try {
    const found = await registry.findLocation(module, version, signal);
    const place = { location: found.location, base: found.base.href };
    const source = sourceOf(address, place);
    if (source.kind !== "git") return { ...place, commit: undefined };
    const commit = await sources.findCommit(source, signal).catch(
      // What asks for a login is left to clients, unless it was open before.
      (error: unknown) => {
        if (known === undefined && isFailure(error, "origin-credentials"))
          return undefined;
        throw error;
      },
    );
    return { ...place, commit };
  } catch (error) {
    const isGone = isFailure(error, "not-found", "module-source-refused");
    if (known !== undefined && isGone) return known;
    throw error;
  }
}

/** Offers what is known of a release without fetching it; undefined for an archive. */
export function offerOf(
  address: ModuleReleaseAddress,
  { location, base, commit }: ModuleRelease,
): ModuleOffer | undefined {
  const place = { location, base };
  if (commit !== undefined) return makeOffer(commit, { commit, place });
  const source = sourceOf(address, place);
  if (source.kind !== "foreign") return undefined;
  const digest = hash("sha256", withoutQuery(location));
  return makeOffer(digest, { place, foreign: source.getter });
}

export function sourceOf(
  address: ModuleReleaseAddress,
  { location, base }: ModulePlace,
): ModuleSource {
  return parseModuleSource(formatModuleRelease(address), location, base);
}

/** Prepares the fetch of a source that the mirror stores. */
export function startOf(
  { sources, packing }: ModuleOrigin,
  address: ModuleReleaseAddress,
  source: ArchiveSource | GitSource,
  { location, base, commit }: ModuleRelease,
): ModuleStart {
  const { hostname } = address.module;
  const name = formatModuleRelease(address);
  const { subdirectory } = source;
  if (source.kind === "archive")
    return {
      ...source,
      hostname,
      place: undefined,
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
    place: { location, base },
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
