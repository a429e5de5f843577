import pLimit from "p-limit";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import {
  parseModuleSpec,
  parseProviderSpec,
  type VersionSelection,
} from "../../address/spec.ts";
import type { Version } from "../../address/version.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import { justNow } from "../../mirror/providers/provider-mirror.ts";
import type { OpenMirror } from "../../wiring/open-mirror.ts";
import { type Flags, hostsOf, platformsOf } from "../command.ts";
import { findRoots, type NotCarried } from "../inputs/configuration.ts";
import {
  type DependencyLockFile,
  type ProviderLock,
  readLockFile,
} from "../inputs/dependency-lock-file.ts";
import { type GatheredModule, ModulePackages } from "./module-packages.ts";
import { chooseVersions } from "./version-choice.ts";

/** The packages that a command works on. */
export interface SelectionFlags extends Flags {
  readonly spec: readonly string[];
  /** SPECs of modules. */
  readonly module?: readonly string[];
  /** They are searched. */
  readonly directory?: readonly string[];
  readonly lockFile?: readonly string[];
  readonly platform?: readonly string[];
}

/** Reads the lock files as the user of the command: opening the store takes its owner's. */
export function readLockFiles({
  lockFile = [],
}: SelectionFlags): Promise<readonly DependencyLockFile[]> {
  return Promise.all(lockFile.map(readLockFile));
}

export interface WantedPackage {
  readonly provider: ProviderAddress;
  readonly version: Version;
  readonly platform: Platform;
  /** Of each lock file that requests it; at least one hash of each has to match. */
  readonly locks: readonly Pick<ProviderLock, "where" | "hashes">[];
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
  /** Of requests that were invalid or unknown. */
  readonly problems: readonly ProvenderError[];
}

/** A provider that is asked for; `where` is the SPEC or FILE:LINE. */
interface PackageRequest {
  readonly provider: ProviderAddress;
  readonly selection: VersionSelection;
  readonly where: string;
  /** Of what is selected, clients would install the newest alone. */
  readonly isNewest?: boolean;
  /** Hashes from a dependency lock file; without any, clients take what they get. */
  readonly hashes?: readonly string[];
}

/** Lists of versions that are asked for at once. */
const listings = 16;

/** Selects the packages of the flags and lock files, each once, and fetches called modules for those that they require. Exactly named versions cost no look-up. */
export async function selectPackages(
  flags: SelectionFlags,
  lockFiles: readonly DependencyLockFile[],
  mirror: OpenMirror,
  signal: AbortSignal,
): Promise<Selection> {
  const platforms = platformsOf(flags.platform, mirror.configuration);
  const modules = new ModulePackages(mirror, signal);
  const read = await readRequests(flags, lockFiles, mirror, modules);
  const wanted = new Map<string, WantedPackage>();
  const problems = [...read.problems];
  await pLimit(listings).map(read.requests, async (request) => {
    const { provider, selection, where, isNewest, hashes = [] } = request;
    const name = formatProviderAddress(provider);
    try {
      const chosen = await chooseVersions(name, selection, where, async () => {
        const asked = { maxAge: justNow };
        const list = await mirror.providers.listVersions(provider, asked);
        return list.value.versions;
      });
      const versions = isNewest === true ? chosen.slice(0, 1) : chosen;
      for (const version of versions)
        for (const platform of platforms) {
          const key = `${name} ${version} ${formatPlatform(platform)}`;
          const known = wanted.get(key);
          const isOneOfMany = versions.length > 1;
          const locks = hashes.length === 0 ? [] : [{ where, hashes }];
          wanted.set(key, {
            ...{ provider, version, platform },
            locks: [...(known?.locks ?? []), ...locks],
            asked: [...(known?.asked ?? []), where],
            isOneOfMany: isOneOfMany && (known?.isOneOfMany ?? true),
          });
        }
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      problems.push(error);
    }
  });
  const packages = [...wanted]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);
  const { notCarried } = read;
  return { packages, modules: modules.gathered, notCarried, problems };
}

async function readRequests(
  { spec: specs, module: moduleSpecs = [], directory = [] }: SelectionFlags,
  lockFiles: readonly DependencyLockFile[],
  { configuration }: OpenMirror,
  modules: ModulePackages,
) {
  const ways = [specs, lockFiles, directory, moduleSpecs];
  if (ways.every((way) => way.length === 0)) throw failure("nothing-asked");
  const hosts = hostsOf(configuration);
  const named = specs.map((where): PackageRequest => {
    const { address: provider, selection } = parseProviderSpec(where, hosts);
    return { provider, selection, where };
  });
  const namedModules = moduleSpecs.map((where) => {
    return { ...parseModuleSpec(where, hosts), where };
  });
  const [followed, searched] = await Promise.all([
    Promise.all(
      namedModules.map(async ({ address: module, selection, where }) => {
        try {
          const versions = await modules.choose(module, selection, where);
          return await Promise.all(
            versions.map((version) =>
              modules.follow({ module, version }, where),
            ),
          );
        } catch (error) {
          if (!(error instanceof ProvenderError)) throw error;
          return [{ requirements: [], problems: [error], notCarried: [] }];
        }
      }),
    ),
    Promise.all(directory.map((path) => findRoots(path, modules.open))),
  ]);
  const roots = searched.flatMap((one) => one.roots);
  const locked = [...lockFiles, ...roots.flatMap(({ locks }) => locks ?? [])]
    .flatMap(({ locks }) => locks)
    .map(({ provider, version, hashes, where }): PackageRequest => {
      const constraint = [{ operator: "=", boundary: version }] as const;
      const selection = { kind: "constraint", constraint } as const;
      return { provider, selection, where, hashes };
    });
  const projects = [...followed.flat(), ...roots];
  const required = projects
    .flatMap(({ requirements }) => requirements)
    .map(({ provider, constraint, where }): PackageRequest => {
      const selection = { kind: "constraint", constraint } as const;
      return { provider, selection, where, isNewest: true };
    });
  return {
    requests: [...named, ...locked, ...required],
    problems: [...lockFiles, ...followed.flat(), ...searched].flatMap(
      ({ problems }): readonly ProvenderError[] => problems,
    ),
    notCarried: projects.flatMap((one) => one.notCarried),
  };
}
