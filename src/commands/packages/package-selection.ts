import pLimit from "p-limit";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseModuleSpec } from "../../address/specs/module-spec.ts";
import { parseProviderSpec } from "../../address/specs/provider-spec.ts";
import type { SpecHosts } from "../../address/specs/spec.ts";
import type { Version } from "../../address/version.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import {
  justNow,
  type ProviderMirror,
} from "../../mirror/providers/provider-mirror.ts";
import { type NotCarried, readConfiguration } from "../inputs/configuration.ts";
import type { ProviderLock } from "../inputs/dependency-lock-file.ts";
import type { InputText } from "../inputs/input-file.ts";
import { readDependencyLocks } from "../inputs/parser.ts";
import {
  gatherModules,
  type GatheredModule,
  type ModuleRequest,
  type ModuleSupply,
} from "./module-packages.ts";
import {
  choiceOf,
  chooseVersions,
  newestOf,
  newestOfModule,
  type VersionChoice,
} from "./version-choice.ts";

/** What the arguments and flags of a command name. */
export interface SelectionInput {
  readonly specs: readonly string[];
  /** SPECs of modules. */
  readonly modules: readonly string[];
  readonly lockFiles: readonly InputText[];
  /** They are searched. */
  readonly directories: readonly string[];
  readonly platforms: readonly Platform[];
  readonly hosts: SpecHosts;
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

/** Lists of versions that are asked for at once. */
const listings = 16;

/** Selects the packages of the input, each once, and fetches the modules. Exactly named versions cost no look-up. */
export async function selectPackages(
  input: SelectionInput,
  mirror: ModuleSupply & {
    readonly providers: Pick<ProviderMirror, "listVersions">;
  },
  signal: AbortSignal,
): Promise<Selection> {
  const read = await readRequests(input);
  const gathered = await gatherModules(read.modules, mirror, signal);
  const wanted = new Map<string, WantedPackage>();
  const problems = [...read.problems, ...gathered.problems];
  await pLimit(listings).map(read.packages, async (request) => {
    const { provider, choice, where, hashes = [] } = request;
    const name = formatProviderAddress(provider);
    const list = async () => {
      const asked = { maxAge: justNow };
      const listed = await mirror.providers.listVersions(provider, asked);
      return listed.value.versions;
    };
    try {
      const versions = await chooseVersions(name, choice, where, list);
      for (const version of versions)
        for (const platform of input.platforms) {
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
  const notCarried = [...read.notCarried, ...gathered.notCarried];
  return { packages, modules: gathered.modules, notCarried, problems };
}

async function readRequests({
  specs,
  lockFiles,
  directories,
  hosts,
  ...input
}: SelectionInput) {
  const ways = [specs, lockFiles, directories, input.modules];
  if (ways.every((way) => way.length === 0))
    throw failure(
      "nothing-asked",
      "fetch",
      "SPECs, --lock-file or --directory, or modules with --module",
    );
  const packages = specs.map((spec): PackageRequest => {
    const { address, selection } = parseProviderSpec(spec, hosts);
    return { provider: address, choice: choiceOf(selection), where: spec };
  });
  const modules = input.modules.map((spec): ModuleRequest => {
    const { address, selection } = parseModuleSpec(spec, hosts);
    return { module: address, choice: choiceOf(selection), where: spec };
  });
  const notCarried: NotCarried[] = [];
  const problems: ProvenderError[] = [];
  // A locked version is what clients install.
  const takeLocks = (locks: readonly ProviderLock[]) => {
    for (const { provider, version, hashes, where } of locks)
      packages.push({ provider, choice: { version }, where, hashes });
  };
  for (const file of lockFiles) {
    const read = await readDependencyLocks(file);
    takeLocks(read.locks);
    problems.push(...read.problems);
  }
  for (const path of directories) {
    const found = await readConfiguration(path);
    takeLocks(found.locks);
    for (const { provider, constraint, where } of found.required)
      packages.push({ provider, choice: newestOf(constraint), where });
    for (const { module, constraint, where } of found.modules)
      modules.push({ module, choice: newestOfModule(constraint), where });
    notCarried.push(...found.notCarried);
    problems.push(...found.problems);
  }
  return { packages, modules, notCarried, problems };
}
