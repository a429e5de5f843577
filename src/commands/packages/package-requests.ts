import {
  parseModuleSpec,
  type ModuleSpec,
} from "../../address/specs/module-spec.ts";
import { parseProviderSpec } from "../../address/specs/provider-spec.ts";
import type { SpecHosts } from "../../address/specs/spec.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import {
  findRoots,
  requireTogether,
  type ConfigurationRoot,
} from "../inputs/configuration-directory.ts";
import type { Requirement } from "../inputs/configuration-module.ts";
import { type DependencyLockFile } from "../inputs/dependency-lock-file.ts";
import { readDependencyLocks } from "../inputs/parser.ts";
import { followPackage, type NotCarried } from "../inputs/module-tree.ts";
import {
  formatModuleRelease,
  type ModuleReleaseAddress,
} from "../../mirror/modules/release.ts";
import type { PackageRequest, SelectionInput } from "./request.ts";
import type { InputText } from "../inputs/input-file.ts";
import { readSpecList } from "../inputs/spec-list.ts";
import type { ModulePackages } from "./module-packages.ts";
import { choiceOf, newestOf } from "./version-choice.ts";

/** Requests that were read, and problems of the others. */
interface Requests {
  readonly requests: readonly PackageRequest[];
  readonly problems: readonly ProvenderError[];
  readonly notCarried: readonly NotCarried[];
}

/**
 * Reads the requests, and fetches called modules for those that they require.
 * Throws malformed-address for an invalid SPEC of the command line, and
 * nothing-asked.
 */
export async function readRequests(
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

function readList(list: InputText, hosts: SpecHosts): Requests {
  const { specs, problems } = readSpecList(list, hosts);
  const requests = specs.map(({ spec, where }) => ({
    provider: spec.address,
    choice: choiceOf(spec.selection),
    where,
  }));
  return { ...requestsOf(requests), problems };
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
  const followed = await followPackage(found, registry, modules);
  const { requirements, problems } = requireTogether(
    followed.modules,
    () => registry,
  );
  return {
    requests: requirements.map(requestOfRequirement),
    problems: [...problems, ...followed.problems],
    notCarried: followed.notCarried,
  };
}

async function readDirectory(
  path: string,
  modules: ModulePackages,
): Promise<Requests> {
  const { roots, problems } = await findRoots(path, modules);
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
