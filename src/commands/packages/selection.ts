import pLimit from "p-limit";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import {
  parseModuleSpec,
  parseProviderSpec,
  type SpecHosts,
} from "../../address/spec.ts";
import type { Version } from "../../address/version.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import {
  formatModuleRelease,
  type ModuleReleaseAddress,
} from "../../mirror/modules/release.ts";
import { justNow } from "../../mirror/providers/provider-mirror.ts";
import type { OpenMirror } from "../../wiring/open-mirror.ts";
import { type Flags, hostsOf, platformsOf } from "../command.ts";
import {
  findRoots,
  followModules,
  type NotCarried,
  readModule,
  type Requirement,
} from "../inputs/configuration.ts";
import type {
  DependencyLockFile,
  ProviderLock,
} from "../inputs/dependency-lock-file.ts";
import { readLockFile } from "../inputs/parser.ts";
import { type GatheredModule, ModulePackages } from "./module-packages.ts";
import {
  choiceOf,
  chooseVersions,
  newestOf,
  type VersionChoice,
} from "./version-choice.ts";

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
  /**
   * Hashes from each lock file that requests it; at least one of each has to
   * match.
   */
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
  /**
   * Problems of requests that were invalid or unknown; the rest is in
   * `packages`.
   */
  readonly problems: readonly ProvenderError[];
}

/** A provider that is asked for; `where` is the SPEC or FILE:LINE. */
interface PackageRequest {
  readonly provider: ProviderAddress;
  readonly choice: VersionChoice;
  readonly where: string;
  /** Hashes from a dependency lock file; without any, clients take what they get. */
  readonly hashes?: readonly string[];
}

/** Requests that were read, and problems of the others. */
interface Requests {
  readonly requests: readonly PackageRequest[];
  readonly problems: readonly ProvenderError[];
  readonly notCarried: readonly NotCarried[];
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
  const { configuration, providers } = mirror;
  const platforms = platformsOf(flags.platform, configuration);
  const modules = new ModulePackages(mirror, signal);
  const hosts = hostsOf(configuration);
  const read = await readRequests(flags, lockFiles, hosts, modules);
  const wanted = new Map<string, WantedPackage>();
  const problems = [...read.problems];
  await pLimit(listings).map(read.requests, async (request) => {
    const { provider, choice, where, hashes = [] } = request;
    const name = formatProviderAddress(provider);
    try {
      const list = async () => {
        const asked = { maxAge: justNow };
        return (await providers.listVersions(provider, asked)).value.versions;
      };
      const versions = await chooseVersions(name, choice, where, list);
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
  hosts: SpecHosts,
  modules: ModulePackages,
): Promise<Requests> {
  const ways = [specs, lockFiles, directory, moduleSpecs];
  if (ways.every((way) => way.length === 0))
    throw failure(
      "nothing-asked",
      "fetch",
      "SPECs, --lock-file or --directory, or modules with --module",
    );
  const requests = specs.map((spec) => {
    const { address: provider, selection } = parseProviderSpec(spec, hosts);
    return { provider, choice: choiceOf(selection), where: spec };
  });
  const named = moduleSpecs.map((where) => ({
    ...parseModuleSpec(where, hosts),
    where,
  }));
  const found = await Promise.all([
    ...named.map(async ({ address: module, selection, where }) => {
      try {
        const choice = choiceOf(selection);
        const versions = await modules.choose(module, choice, where);
        // Each by itself, as if a configuration called nothing else.
        return join(
          await Promise.all(
            versions.map((version) =>
              requestsOfModule({ module, version }, where, modules),
            ),
          ),
        );
      } catch (error) {
        if (!(error instanceof ProvenderError)) throw error;
        return { problems: [error] };
      }
    }),
    ...directory.map((path) => readDirectory(path, modules)),
  ]);
  const locked = lockFiles.map(({ locks, problems }) => {
    return { requests: locks.map(requestOfLock), problems };
  });
  return join([{ requests }, ...locked, ...found]);
}

function join(parts: readonly Partial<Requests>[]): Requests {
  return {
    requests: parts.flatMap(({ requests = [] }) => requests),
    problems: parts.flatMap(({ problems = [] }) => problems),
    notCarried: parts.flatMap(({ notCarried = [] }) => notCarried),
  };
}

/** A locked version is what clients install. */
function requestOfLock(lock: ProviderLock): PackageRequest {
  const { provider, version, hashes, where } = lock;
  return { provider, choice: { version }, where, hashes };
}

function requestOfRequirement(required: Requirement): PackageRequest {
  const { provider, constraint, where } = required;
  const choice = newestOf(constraint);
  return { provider, choice, where };
}

async function requestsOfModule(
  address: ModuleReleaseAddress,
  where: string,
  modules: ModulePackages,
): Promise<Partial<Requests>> {
  const found = await modules.get(address, where);
  if ("because" in found) {
    const source = formatModuleRelease(address);
    return { notCarried: [{ ...found, source, where }] };
  }
  const registry =
    address.module.hostname === "registry.opentofu.org"
      ? "registry.opentofu.org"
      : "registry.terraform.io";
  const folder = found.folder("");
  const { requirements, ...rest } = await followModules(
    { folder, module: await readModule(folder) },
    registry,
    modules.open,
  );
  return { ...rest, requests: requirements.map(requestOfRequirement) };
}

async function readDirectory(
  path: string,
  modules: ModulePackages,
): Promise<Requests> {
  const { roots, problems } = await findRoots(path, modules.open);
  return join([
    { problems },
    ...roots.map(({ locks, requirements, notCarried }) => {
      const locked = new Set(locks?.locks.map(({ name }) => name));
      const required = requirements.filter(({ name }) => !locked.has(name));
      return {
        requests: [
          ...(locks?.locks ?? []).map(requestOfLock),
          ...required.map(requestOfRequirement),
        ],
        problems: locks?.problems ?? [],
        notCarried,
      };
    }),
  ]);
}
