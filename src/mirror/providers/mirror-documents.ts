import { formatPlatform } from "../../address/platform.ts";
import type { Version } from "../../address/version.ts";
import type { MirroredPackage } from "./package-description.ts";

/** `index.json` (Provider Network Mirror Protocol, "List Available Versions"). */
export function renderIndex(versions: readonly Version[]): object {
  return {
    versions: Object.fromEntries(versions.map((version) => [version, {}])),
  };
}

/**
 * `VERSION.json` ("List Available Installation Packages"); `locate` says where an archive is, relative to the document.
 * `computed` is this mirror's own, by platform: the h1 that it computed itself. Clients pass over what they do not know.
 */
export function renderVersion(
  packages: readonly MirroredPackage[],
  locate: (filename: string) => string = (filename) => filename,
): object {
  const archives = packages.map(
    ({ platform, filename, hashes }) =>
      [formatPlatform(platform), { url: locate(filename), hashes }] as const,
  );
  const computed = packages.flatMap(({ platform, computed: h1 }) =>
    h1 === undefined ? [] : [[formatPlatform(platform), h1] as const],
  );
  return {
    archives: Object.fromEntries(archives),
    computed: Object.fromEntries(computed),
  };
}
