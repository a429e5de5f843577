import pLimit from "p-limit";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import {
  type ModuleSpec,
  parseModuleSpec,
} from "../../address/specs/module-spec.ts";
import { parseProviderSpec } from "../../address/specs/provider-spec.ts";
import type { SpecHosts } from "../../address/specs/spec.ts";
import type { Version } from "../../address/version.ts";
import { failure, type Failure, ProvenderError } from "../../errors/index.ts";
import {
  formatModuleRelease,
  type ModuleReleaseAddress,
} from "../../mirror/modules/release.ts";
import type { ProviderMirror } from "../../mirror/providers/provider-mirror.ts";
import { type ConfigurationRoot, findRoots } from "../inputs/configuration.ts";
import type { DependencyLockFile } from "../inputs/dependency-lock-file.ts";
import { type InputText, noteProblem, textOf } from "../inputs/input-file.ts";
import {
  followModules,
  type NotCarried,
  readModule,
  type Requirement,
} from "../inputs/modules.ts";
import { readDependencyLocks } from "../inputs/parser.ts";
import type { GatheredModule, ModulePackages } from "./module-packages.ts";
import type { PackageRequest, SelectionInput } from "./request.ts";
import { choiceOf, chooseVersions, newestOf } from "./version-choice.ts";

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

/** Selects the packages of the input, each once. Exactly named versions cost no look-up. */
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

/** Requests that were read, and problems of the others. */
interface Requests {
  readonly requests: readonly PackageRequest[];
  readonly problems: readonly ProvenderError[];
  readonly notCarried: readonly NotCarried[];
}

/** Reads the requests, and fetches called modules for those that they require. */
async function readRequests(
  input: Omit<SelectionInput, "platforms">,
  modules: ModulePackages,
): Promise<Requests> {
  const { specs, lists, lockFiles, directories, hosts } = input;
  const ways = [specs, lists, lockFiles, directories, input.modules];
  if (ways.every((way) => way.length === 0))
    throw failure(
      "nothing-asked",
      "fetch",
      "SPECs, --list, --lock-file or --directory, or modules with --module",
    );
  const named = requestsOf(specs.map((spec) => requestOf(spec, hosts)));
  const modulesNamed = input.modules.map((spec) => ({
    ...parseModuleSpec(spec, hosts),
    where: spec,
  }));
  const found = await Promise.all([
    ...modulesNamed.map((spec) => readModuleSpec(spec, modules)),
    ...lockFiles.map(async (file) =>
      requestsOfLocks(await readDependencyLocks(file)),
    ),
    ...directories.map((path) => readDirectory(path, modules)),
  ]);
  const listed = lists.map((list) => readList(list, hosts));
  return join([named, ...listed, ...found]);
}

function requestOf(spec: string, hosts: SpecHosts): PackageRequest {
  const { address, selection } = parseProviderSpec(spec, hosts);
  return { provider: address, choice: choiceOf(selection), where: spec };
}

/** Each version by itself, as if a configuration called nothing else. */
async function readModuleSpec(
  { address: module, selection, where }: NamedModule,
  modules: ModulePackages,
): Promise<Requests> {
  try {
    const choice = choiceOf(selection);
    const versions = await modules.choose(module, choice, where);
    return join(
      await Promise.all(
        versions.map((version) =>
          requestsOfModule({ module, version }, where, modules),
        ),
      ),
    );
  } catch (error) {
    if (!(error instanceof ProvenderError)) throw error;
    return { ...requestsOf([]), problems: [error] };
  }
}

type NamedModule = ModuleSpec & { readonly where: string };

async function requestsOfModule(
  address: ModuleReleaseAddress,
  where: string,
  modules: ModulePackages,
): Promise<Requests> {
  const found = await modules.get(address, where);
  if ("because" in found) {
    const source = formatModuleRelease(address);
    return { ...requestsOf([]), notCarried: [{ ...found, source, where }] };
  }
  const registry =
    address.module.hostname === "registry.opentofu.org"
      ? "registry.opentofu.org"
      : "registry.terraform.io";
  const folder = found.folder("");
  const start = { folder, module: await readModule(folder) };
  const { requirements, problems, notCarried } = await followModules(
    start,
    registry,
    modules.open,
  );
  const requests = requirements.map(requestOfRequirement);
  return { requests, problems, notCarried };
}

async function readDirectory(
  path: string,
  modules: ModulePackages,
): Promise<Requests> {
  const { roots, problems } = await findRoots(path, modules.open);
  return join([
    { ...requestsOf([]), problems },
    ...roots.map((root) => ({
      ...requestsOfRoot(root),
      notCarried: root.notCarried,
    })),
  ]);
}

function requestsOf(requests: readonly PackageRequest[]): Requests {
  return { requests, problems: [], notCarried: [] };
}

function requestOfRequirement({
  provider,
  constraint,
  where,
}: Requirement): PackageRequest {
  return { provider, choice: newestOf(constraint), where };
}

/** A locked version is what clients install; what is required and not locked is the newest that is allowed. */
function requestsOfRoot({ locks, requirements }: ConfigurationRoot): Requests {
  const locked = locks === undefined ? undefined : requestsOfLocks(locks);
  const names = new Set(locks?.locks.map(({ name }) => name));
  const required = requirements
    .filter(({ name }) => !names.has(name))
    .map(requestOfRequirement);
  return join([locked ?? requestsOf([]), requestsOf(required)]);
}

function requestsOfLocks({ locks, problems }: DependencyLockFile): Requests {
  const requests = locks.map(
    ({ provider, version, hashes, where }): PackageRequest => ({
      provider,
      choice: { kind: "exact", version },
      where,
      // Without any, clients take what they get.
      ...(hashes.length === 0 ? {} : { hashes }),
    }),
  );
  return { ...requestsOf(requests), problems };
}

function join(parts: readonly Requests[]): Requests {
  return {
    requests: parts.flatMap(({ requests }) => requests),
    problems: parts.flatMap(({ problems }) => problems),
    notCarried: parts.flatMap(({ notCarried }) => notCarried),
  };
}

/** One SPEC a line; blank lines and what follows a `#` are nothing. */
function readList(list: InputText, hosts: SpecHosts): Requests {
  const requests: PackageRequest[] = [];
  const problems: Failure<"input">[] = [];
  const { path } = list;
  try {
    for (const [index, line] of textOf(list).split(/\r?\n/).entries()) {
      const written = line.replace(/(?:^|\s)#.*$/, "").trim();
      const where = `${path}:${index + 1}`;
      try {
        if (written !== "")
          requests.push({ ...requestOf(written, hosts), where });
      } catch (error) {
        noteProblem(problems, where, error);
      }
    }
  } catch (error) {
    noteProblem(problems, path, error);
  }
  return { ...requestsOf(requests), problems };
}
