import type { ArchiveFormat } from "../address/module-archive-name.ts";
import {
  parseModuleSource,
  type ArchiveSource,
  type Checksum,
  type ForeignSource,
} from "../address/module-source.ts";
import { ModuleSourceRefused, NotFound } from "../errors.ts";
import type { ModuleRegistry } from "../origin/module-registry.ts";
import type { ModuleSources } from "../origin/module-sources.ts";
import type { Clock } from "./clock.ts";
import type { ModuleRelease, ModuleReleaseAddress } from "./module-release.ts";

/** One configured origin of modules. */
export interface ModuleOrigin {
  readonly registry: ModuleRegistry;
  /** Asked without the registry's credentials. */
  readonly sources: ModuleSources;
  readonly clock: Clock;
}

/**
 * Where the registry says that a release is now. What was seen first outlives its removal, and a new place that is refused. Throws
 * ModuleSourceRefused and the origin's failures.
 */
export async function fetchModuleRelease(
  { registry }: ModuleOrigin,
  { module, version }: ModuleReleaseAddress,
  known: ModuleRelease | undefined,
  signal: AbortSignal,
): Promise<ModuleRelease> {
  try {
    const found = await registry.findLocation(module, version, signal);
    const release = { location: found.location, base: found.base.href };
    sourceOf(release);
    return { ...release, commit: undefined, moved: undefined };
  } catch (error) {
    const isGone =
      error instanceof NotFound || error instanceof ModuleSourceRefused;
    if (known !== undefined && isGone) return known;
    throw error;
  }
}

/** Throws ModuleSourceRefused. */
export function sourceOf({
  location,
  base,
}: Pick<ModuleRelease, "location" | "base">): ArchiveSource | ForeignSource {
  const source = parseModuleSource(location, new URL(base));
  if (source.kind === "git") return { kind: "foreign", getter: "git" };
  return source;
}

/** What the mirror will store of a source. */
export function startOf({ format, subdirectory, checksum }: ArchiveSource): {
  readonly format: ArchiveFormat;
  readonly subdirectory: string;
  readonly checksum: Checksum | undefined;
} {
  return { format, subdirectory, checksum };
}
