import { formatPlatform, type Platform } from "../../address/platform.ts";
import type { Version } from "../../address/version.ts";

/** Archive of one platform as described to clients. */
export interface MirroredPackage {
  readonly platform: Platform;
  readonly filename: string;
  /** Its `zh:`, and its `h1:` once the mirror itself has computed it from the archive, which it had verified. */
  readonly hashes: readonly [zh: string, h1?: string];
}

/** `index.json` (Provider Network Mirror Protocol, "List Available Versions"). */
export function renderIndex(versions: readonly Version[]): object {
  return {
    versions: Object.fromEntries(versions.map((version) => [version, {}])),
  };
}

/**
 * Renders `VERSION.json` ("List Available Installation Packages"). `locate` returns the URL of an archive relative to the
 * document. `computed`, by platform, is the h1 that this mirror computed; clients ignore it.
 */
export function renderVersion(
  packages: readonly MirroredPackage[],
  locate: (filename: string) => string = (filename) => filename,
): object {
  const archives = packages.map(
    ({ platform, filename, hashes }) =>
      [formatPlatform(platform), { url: locate(filename), hashes }] as const,
  );
  const computed = packages.flatMap(({ platform, hashes: [, h1] }) =>
    h1 === undefined ? [] : [[formatPlatform(platform), h1] as const],
  );
  return {
    archives: Object.fromEntries(archives),
    computed: Object.fromEntries(computed),
  };
}
