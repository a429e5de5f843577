import pLimit from "p-limit";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { ProvenderError } from "../../errors/index.ts";
import type { ProviderMirror } from "../../mirror/providers/provider-mirror.ts";
import type { NotCarried } from "../inputs/module-tree.ts";
import type { GatheredModule, ModulePackages } from "./module-packages.ts";
import { readRequests } from "./package-requests.ts";
import type { PackageRequest, SelectionInput } from "./request.ts";
import { chooseVersions } from "./version-choice.ts";

/** The hashes that a dependency lock file has for a version; `where` is FILE:LINE. */
export interface LockedHashes {
  readonly where: string;
  readonly hashes: readonly string[];
}

export interface WantedPackage {
  readonly provider: ProviderAddress;
  readonly version: Version;
  readonly platform: Platform;
  /**
   * Hashes from each lock file that requests it; at least one of each has to
   * match.
   */
  readonly locks: readonly LockedHashes[];
  /** SPECs and FILE:LINEs that requested it. */
  readonly asked: readonly string[];
  /** True when only one of many versions was meant, which need not exist for every platform. */
  readonly isOneOfMany: boolean;
}

export interface Selection {
  readonly packages: readonly WantedPackage[];
  /** Modules that are in the store by now. */
  readonly modules: readonly GatheredModule[];
  /** Modules that clients have to fetch themselves. */
  readonly notCarried: readonly NotCarried[];
  /**
   * Problems of requests that were invalid or unknown; the rest is in
   * `packages`.
   */
  readonly problems: readonly ProvenderError[];
}

/** Lists of versions that are asked for at once. */
const listings = 16;

/**
 * Selects the packages of the input, each once. Exactly named versions cost no
 * look-up. Throws malformed-address for an invalid SPEC, and nothing-asked for
 * an empty input.
 */
export async function selectPackages(
  input: SelectionInput,
  mirror: Pick<ProviderMirror, "listVersions">,
  modules: ModulePackages,
): Promise<Selection> {
  const read = await readRequests(input, modules);
  const { requests, problems, notCarried } = read;
  const wanted = new Map<string, WantedPackage>();
  const failed: ProvenderError[] = [...problems];
  await pLimit(listings).map(requests, async (request) => {
    try {
      const { provider } = request;
      const name = formatProviderAddress(provider);
      const versions = await chooseVersions(
        name,
        request,
        async () => (await mirror.listVersions(provider)).value.versions,
      );
      for (const version of versions)
        for (const platform of input.platforms)
          addWanted(wanted, request, versions.length > 1, {
            version,
            platform,
          });
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      failed.push(error);
    }
  });
  const packages = [...wanted]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);
  const { gathered } = modules;
  return { packages, modules: gathered, notCarried, problems: failed };
}

function addWanted(
  wanted: Map<string, WantedPackage>,
  { provider, where, hashes }: PackageRequest,
  isOneOfMany: boolean,
  { version, platform }: Pick<WantedPackage, "version" | "platform">,
): void {
  const key = `${formatProviderAddress(provider)} ${version} ${formatPlatform(platform)}`;
  const known = wanted.get(key);
  wanted.set(key, {
    provider,
    version,
    platform,
    locks: [
      ...(known?.locks ?? []),
      ...(hashes === undefined ? [] : [{ where, hashes }]),
    ],
    asked: [...(known?.asked ?? []), where],
    isOneOfMany: isOneOfMany && (known?.isOneOfMany ?? true),
  });
}
