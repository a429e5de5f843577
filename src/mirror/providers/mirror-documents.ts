import { formatPlatform } from "../../address/platform.ts";
import type { Version } from "../../address/version.ts";
import type { MirroredPackage } from "./package-description.ts";

/** `index.json` (Provider Network Mirror Protocol, "List Available Versions"). */
export function renderIndex(versions: readonly Version[]): object {
  return {
    versions: Object.fromEntries(versions.map((version) => [version, {}])),
  };
}

/** `VERSION.json` ("List Available Installation Packages"); `locate` says where an archive is, relative to the document. */
export function renderVersion(
  packages: readonly MirroredPackage[],
  locate: (filename: string) => string = (filename) => filename,
): object {
  return {
    archives: Object.fromEntries(
      packages.map(({ platform, filename, hashes }) => [
        formatPlatform(platform),
        { url: locate(filename), hashes },
      ]),
    ),
  };
}
