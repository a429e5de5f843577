import { readdir, realpath, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import { z } from "zod";
import { hostnameAsWritten } from "../../address/hostname.ts";
import {
  type ModuleAddress,
  parseModuleCall,
} from "../../address/module-address.ts";
import {
  type VersionConstraint,
  parseModuleConstraint,
} from "../../address/version-constraint.ts";
import { withoutQuery } from "../../address/module-source.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { failure, type Failure, ProvenderError } from "../../errors/index.ts";
import {
  isLocalSource,
  type ModuleCall,
  type ProviderDeclaration,
} from "./declarations.ts";
import { clientOf, lockFileName } from "./dependency-lock-file.ts";
import { noteProblem, readInputFile, unreadable } from "./input-file.ts";
import { parseConfiguration, readLockFile } from "./parser.ts";

type FoundDirectory = Awaited<ReturnType<typeof readDirectory>>;

/** Directories that one search looks into at most. */
const mostDirectories = 50_000;

/**
 * The roots in a directory and below it. Hidden directories, `.terraform`
 * among them, and links to directories are not searched. A directory that
 * another one calls as a module and that has no lock file is no root, unless
 * it was named.
 */
export async function findRoots(path: string, open: OpenModule) {
  const problems: ProvenderError[] = [];
  const found: FoundDirectory[] = [];
  const pending = [path];
  for (const directory of pending) {
    const many = `it has more than ${mostDirectories} directories below it`;
    if (pending.length > mostDirectories) {
      problems.push(failure("input", path, many, "name one below it"));
      break;
    }
    try {
      const entries = await readdir(directory, { withFileTypes: true });
      found.push(await readDirectory(directory));
      const below = entries
        .filter((one) => one.isDirectory() && !one.name.startsWith("."))
        .map(({ name }) => join(directory, name));
      pending.push(...below.toSorted());
    } catch (error) {
      problems.push(unreadable(directory, error));
    }
  }
  const called = new Set<string>();
  for (const { directory, folder, module, installed } of found)
    for (const real of [
      ...installed.map((one) => one.real),
      ...(await Promise.all(
        module.calls
          .filter(({ source }) => isLocalSource(source))
          .map(({ source }) => realOf(join(directory, source))),
      )),
    ])
      if (real !== folder.key) called.add(real);
  const roots: Awaited<ReturnType<typeof readRoot>>[] = [];
  const cache = new Map<string, Promise<Module>>();
  for (const one of found) {
    const { directory, folder, module } = one;
    const isFree = directory === path || !called.has(folder.key);
    if (isLocked(folder) || (isFree && module.names.length > 0))
      roots.push(await readRoot(one, open, cache));
  }
  const nothing = `there is neither a ${lockFileName} nor a configuration here or below`;
  if (roots.length + problems.length === 0)
    problems.push(failure("input", path, nothing, "give the directory of one"));
  problems.push(...roots.flatMap((root) => root.problems));
  return { roots, problems };
}

/** What is in a directory and its tests, without what it calls. */
async function readDirectory(directory: string) {
  const folder = await openFolder(directory);
  const module = await readModule(folder, true);
  return { directory, folder, module, ...(await readInstalled(directory)) };
}

async function openFolder(directory: string): Promise<Folder> {
  const show = (name: string) => join(directory, name);
  const tests = await listFiles(show("tests")).catch(() => []);
  return {
    key: await realpath(directory),
    names: [
      ...(await listFiles(directory)),
      ...tests.map((name) => `tests/${name}`),
    ],
    show,
    read: (name) => readInputFile(show(name)),
    enter: async (path) =>
      openFolder(await realOf(show(path))).catch(() => undefined),
  };
}

async function listFiles(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name);
}

function realOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

function isLocked({ names }: Folder): boolean {
  return names.includes(lockFileName);
}

/** A directory in which a client is run: what it locks, and what it and the modules that it calls require together. */
async function readRoot(
  found: FoundDirectory,
  open: OpenModule,
  cache: Map<string, Promise<Module>>,
) {
  const { directory, folder, module, installed } = found;
  const locks = isLocked(folder)
    ? await readLockFile(join(directory, lockFileName))
    : undefined;
  const client = clientOf(locks, module.names);
  const registry =
    client === "tofu" ? "registry.opentofu.org" : "registry.terraform.io";
  const resolve = (key: string, call: ModuleCall) =>
    resolveCall(installed, key, call);
  const followed = await followModules(found, registry, open, resolve, cache);
  const problems = [...found.problems, ...followed.problems];
  return { ...followed, directory, locks, client, problems };
}

/** Calls as an `init` installed them. */
const modulesJson = z.object({
  Modules: z.array(
    z.object({
      /** Labels from the root on, joined by dots. */
      Key: z.string(),
      Source: z.string(),
      // Modules of no registry have none.
      Version: z
        .string()
        .default("")
        .transform((text) => (text === "" ? [] : parseModuleConstraint(text))),
      /** Path from the root. */
      Dir: z.string(),
    }),
  ),
});

type InstalledCall = z.infer<typeof modulesJson>["Modules"][number] & {
  readonly real: string;
};

/**
 * Modules that an `init` in a root directory installed. Only that file
 * resolves a source that is an expression.
 */
async function readInstalled(root: string): Promise<{
  readonly installed: readonly InstalledCall[];
  readonly problems: readonly ProvenderError[];
}> {
  const path = join(root, ".terraform", "modules", "modules.json");
  if (!(await stat(path).then(Boolean, () => false)))
    return { installed: [], problems: [] };
  try {
    const { Modules } = modulesJson.parse(
      JSON.parse(await readInputFile(path)),
    );
    const installed = Modules.map(async (one) => {
      return { ...one, real: await realOf(join(root, one.Dir)) };
    });
    return { installed: await Promise.all(installed), problems: [] };
  } catch (cause) {
    const problem = `it is not what "init" writes`;
    const remedy = `remove it and run "init" again`;
    const found = failure("input", path, problem, remedy, { cause });
    return { installed: [], problems: [found] };
  }
}

/** One call may be reached by several ways, on each of which its expression may mean something else. */
function resolveCall(
  installed: readonly InstalledCall[],
  key: string,
  call: ModuleCall,
): readonly ModuleCall[] {
  const keys = installed
    .filter(({ real }) => real === key)
    .map(({ Key }) => (Key === "" ? call.name : `${Key}.${call.name}`));
  return installed
    .filter(({ Key }) => keys.includes(Key))
    .map(({ Source: source, Version: constraint }) => {
      return { ...call, source, constraint, isExpression: false };
    });
}

/** A provider that a module needs; `where` is FILE:LINE. */
export interface Requirement {
  readonly provider: ProviderAddress;
  /** HOSTNAME/NAMESPACE/TYPE. */
  readonly name: string;
  readonly constraint: VersionConstraint;
  readonly where: string;
}

/** A folder of configuration files: a directory, or a part of a module's archive. */
export interface Folder {
  /** The same for each way that leads here. */
  readonly key: string;
  /** Of its files; those in its folder of tests begin with `tests/`. */
  readonly names: readonly string[];
  /** Returns the name of a file for messages. */
  show(name: string): string;
  read(name: string): Promise<string> | string;
  /** Opens the folder at a path from here; undefined where it may be missing. */
  enter(path: string): Promise<Folder | undefined> | Folder;
}

/** What the configuration files of one folder say. */
interface Module {
  /** Of the files that were read. */
  readonly names: readonly string[];
  /** Providers, whose `name` may lack its hostname. */
  readonly declared: readonly Omit<Requirement, "provider">[];
  readonly calls: readonly ModuleCall[];
  readonly problems: readonly Failure<"input">[];
}

const extension = /^[^/]+\.(?:tf|tofu)(?:\.json)?$/;
const withTests =
  /^(?:[^/]+\.(?:tf|tofu)(?:\.json)?|(?:tests\/)?[^/]+\.(?:tf|tofu)test\.(?:hcl|json))$/;

/** True for a file of a module without its tests. */
export function isConfigurationFile(name: string): boolean {
  return extension.test(name);
}

/** Reads the files that clients choose. An `init` installs what the tests of a root call, too. */
export async function readModule(
  folder: Folder,
  isRoot = false,
): Promise<Module> {
  const shape = isRoot ? withTests : extension;
  const present = new Set(folder.names);
  const names = folder.names
    .filter((name) => shape.test(name) && !posix.basename(name).startsWith("."))
    // Of two that differ in `.tf` and `.tofu` only, the latter (OpenTofu, "dirFiles").
    .filter((name) => {
      const twin = name.replace(/\.tf(\.json|test\.\w+)?$/, ".tofu$1");
      return twin === name || !present.has(twin);
    })
    .toSorted();
  const isOverride = (name: string) =>
    /(?:^|_)override\.(?:tf|tofu)(?:\.json)?$/.test(name);
  const problems: Failure<"input">[] = [];
  const required = new Map<string, ProviderDeclaration>();
  const implied: ProviderDeclaration[] = [];
  const calls: ModuleCall[] = [];
  // Entries of override files stand for those of the same local name.
  for (const name of [
    ...names.filter((one) => !isOverride(one)),
    ...names.filter(isOverride),
  ])
    try {
      const text = await folder.read(name);
      const file = await parseConfiguration(folder.show(name), text);
      for (const one of file.required) required.set(one.localName, one);
      implied.push(...file.implied);
      calls.push(...file.calls);
      problems.push(...file.problems);
    } catch (error) {
      noteProblem(problems, folder.show(name), error);
    }
  const declared = [...required.values(), ...implied].map(
    ({ localName, constraint, where }) => {
      const { source = localName } = required.get(localName) ?? {};
      return { name: source.toLowerCase(), constraint, where };
    },
  );
  return { names, declared, calls, problems };
}

/** Different terms about one provider; a large configuration has ten. */
const mostTerms = 100;

/** Collects what one configuration's modules require, each provider once; clients require all constraints to hold at once. */
function requireTogether(modules: readonly Module[], registry: string) {
  const problems = modules.flatMap((module) => module.problems);
  const all: Requirement[] = [];
  for (const { name: written, ...one } of modules.flatMap((m) => m.declared))
    try {
      const address = withHostname(written, registry);
      // Part of the client itself.
      if (address.startsWith("terraform.io/builtin/")) continue;
      const provider = parseProviderAddress(address);
      all.push({ ...one, provider, name: formatProviderAddress(provider) });
    } catch (error) {
      noteProblem(problems, one.where, error);
    }
  const requirements: Requirement[] = [];
  for (const [name, same] of Map.groupBy(all, (one) => one.name)) {
    const [first] = same;
    if (first === undefined) continue;
    const terms = same.flatMap(({ constraint }) => constraint);
    const distinct = new Map(terms.map((term) => [JSON.stringify(term), term]));
    const constraint = [...distinct.values()];
    const many = `${name} is required with more than ${mostTerms} different terms`;
    if (constraint.length <= mostTerms)
      requirements.push({ ...first, constraint });
    else problems.push(failure("input", first.where, many, "remove some"));
  }
  return { requirements, problems };
}

/** One part means `hashicorp/NAME`, two leave out the hostname; `terraform` is built in. */
function withHostname(source: string, registry: string): string {
  const [first = "", ...rest] = source.split("/");
  if (source === "terraform") return "terraform.io/builtin/terraform";
  if (rest.length === 0) return `${registry}/hashicorp/${source}`;
  if (rest.length === 1) return `${registry}/${source}`;
  return [hostnameAsWritten(first), ...rest].join("/");
}

/** A module that is called and that no mirror has for clients. */
export interface NotCarried {
  /** Without what may be a secret. */
  readonly source: string;
  readonly where: string;
  readonly because: string;
}

/** Opens a folder of a module's package, from the module's own; or the reason why it is not carried. */
export type FoundModule =
  | { readonly folder: (subdirectory: string) => Folder }
  | { readonly because: string };

/** Gets a module of a registry: the newest version that the constraint allows. */
export type OpenModule = (
  module: ModuleAddress,
  constraint: VersionConstraint,
  where: string,
) => Promise<FoundModule>;

const onlyClientsKnow =
  "only clients know what its expression means, and .terraform/modules/modules.json of an init does not say it";

/** Packages that one configuration may lead to; a registry could name them without end. */
const mostPackages = 1_000;

/**
 * What a module and all that it calls require together. `resolve` tells what a
 * call whose source is an expression means; `cache` has modules that were read.
 */
export async function followModules(
  start: { readonly folder: Folder; readonly module: Module },
  registry: string,
  open: OpenModule,
  resolve: (key: string, call: ModuleCall) => readonly ModuleCall[] = () => [],
  cache = new Map<string, Promise<Module>>(),
) {
  const problems: ProvenderError[] = [];
  const notCarried: NotCarried[] = [];
  const reached = [start];
  const entered = new Set([start.folder.key]);
  const called = new Set<string>();
  const enter = async (folder: Folder | undefined) => {
    if (folder === undefined || entered.has(folder.key)) return;
    entered.add(folder.key);
    const reading = cache.get(folder.key) ?? readModule(folder);
    cache.set(folder.key, reading);
    reached.push({ folder, module: await reading });
  };
  const follow = async (from: Folder, call: ModuleCall) => {
    const { source, constraint, where, isExpression } = call;
    const refuse = (because: string) =>
      notCarried.push({ source: withoutQuery(source), where, because });
    if (isExpression) return refuse(onlyClientsKnow);
    if (isLocalSource(source)) return enter(await from.enter(source));
    const named = parseModuleCall(source, registry);
    if (named === undefined) return refuse("it is no module of a registry");
    const many = `more than ${mostPackages} modules are called`;
    if (called.add(source).size > mostPackages)
      throw failure("input", where, many, "no configuration needs as many");
    const found = await open(named.address, constraint, where);
    if ("because" in found) return refuse(found.because);
    return enter(found.folder(named.subdirectory));
  };
  // Those that are reached on the way follow.
  for (const { folder, module } of reached)
    for (const one of module.calls) {
      const known = one.isExpression ? resolve(folder.key, one) : [];
      for (const call of known.length > 0 ? known : [one])
        try {
          await follow(folder, call);
        } catch (error) {
          const isForeseen = error instanceof ProvenderError;
          if (!isForeseen || error.code === "hostile-input") throw error;
          problems.push(error);
        }
    }
  const modules = reached.map(({ module }) => module);
  const together = requireTogether(modules, registry);
  problems.unshift(...together.problems);
  return { requirements: together.requirements, problems, notCarried };
}
