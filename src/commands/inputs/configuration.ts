import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
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
  readDeclarations,
} from "./declarations.ts";
import {
  clientOf,
  lockFileName,
  readLockFile,
} from "./dependency-lock-file.ts";
import { noteProblem, readInputFile, unreadable } from "./input-file.ts";
import { parseHcl } from "./parser.ts";

/** Directories that one search looks into at most. */
const mostDirectories = 50_000;

/**
 * The roots in a directory and below it: where a client is run, with what it locks, and what else it and the modules that
 * it calls require together. Hidden directories, `.terraform` among them, and links to directories are not searched. A
 * directory that another one calls as a module and that has no lock file is no root, unless it was named.
 */
export async function findRoots(path: string, open: OpenModule) {
  const problems: ProvenderError[] = [];
  const modules = new Map<string, Promise<Module>>();
  const pending = [path];
  const look = async (directory: string) => {
    const entries = await readdir(directory, { withFileTypes: true });
    const below = entries
      .filter((one) => one.isDirectory() && !one.name.startsWith("."))
      .map(({ name }) => join(directory, name));
    pending.push(...below.toSorted());
    const isLocked = entries.some(
      (one) => one.name === lockFileName && !one.isDirectory(),
    );
    const module = await openDirectory(directory, modules);
    const installed = await readInstalled(directory, problems);
    return { directory, module, isLocked, installed };
  };
  const found: Awaited<ReturnType<typeof look>>[] = [];
  for (const directory of pending) {
    const many = `it has more than ${mostDirectories} directories below it`;
    if (pending.length > mostDirectories) {
      problems.push(failure("input", path, many, "name one below it"));
      break;
    }
    try {
      found.push(await look(directory));
    } catch (error) {
      problems.push(unreadable(directory, error));
    }
  }
  const called = new Set<string>();
  for (const { directory, module, installed } of found) {
    const local = module.calls.filter(({ source }) => isLocalSource(source));
    const paths = local.map(({ source }) => realOf(join(directory, source)));
    const folders = installed.map(({ folder }) => folder);
    for (const key of [...folders, ...(await Promise.all(paths))])
      if (key !== module.key) called.add(key);
  }
  const roots = [];
  for (const { directory, module, isLocked, installed } of found) {
    const isFree = directory === path || !called.has(module.key);
    if (!isLocked && (!isFree || module.names.length === 0)) continue;
    const locks = isLocked
      ? await readLockFile(join(directory, lockFileName))
      : undefined;
    const client = clientOf(locks, module.names);
    const registry =
      client === "tofu" ? "registry.opentofu.org" : "registry.terraform.io";
    const followed = await followModules(module, registry, open, installed);
    problems.push(...(locks?.problems ?? []), ...followed.problems);
    const locked = new Set(locks?.locks.map(({ name }) => name));
    const requirements = followed.requirements.filter(
      ({ name }) => !locked.has(name),
    );
    const { notCarried } = followed;
    roots.push({ directory, client, locks, requirements, notCarried });
  }
  const nothing = `there is neither a ${lockFileName} nor a configuration here or below`;
  if (roots.length + problems.length === 0)
    problems.push(failure("input", path, nothing, "give the directory of one"));
  return { roots, problems };
}

/** Each is read once. */
async function openDirectory(
  directory: string,
  modules: Map<string, Promise<Module>>,
): Promise<Module> {
  const key = await realpath(directory);
  const show = (name: string) => join(directory, name);
  const enter = (path: string) =>
    openDirectory(show(path), modules).catch((error: unknown) => {
      if (error instanceof Error && "syscall" in error) return undefined;
      throw error;
    });
  const readOnce = async () => {
    const entries = await readdir(directory, { withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory());
    const names = files.map(({ name }) => name);
    const read = (name: string) => readInputFile(show(name));
    return { key, enter, ...(await readModule(names, show, read)) };
  };
  const module = modules.get(key) ?? readOnce();
  modules.set(key, module);
  return module;
}

function realOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
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
  /** `key` of the module. */
  readonly folder: string;
};

/** Modules that an `init` in a root directory installed: only that resolves a source that is an expression. */
async function readInstalled(
  root: string,
  problems: ProvenderError[],
): Promise<readonly InstalledCall[]> {
  const path = join(root, ".terraform", "modules", "modules.json");
  if (!(await stat(path).then(Boolean, () => false))) return [];
  try {
    const text = await readInputFile(path);
    const { Modules } = modulesJson.parse(JSON.parse(text));
    const installed = Modules.map(async (one) => {
      return { ...one, folder: await realOf(join(root, one.Dir)) };
    });
    return await Promise.all(installed);
  } catch (cause) {
    const problem = `it is not what "init" writes`;
    const remedy = `remove it and run "init" again`;
    problems.push(failure("input", path, problem, remedy, { cause }));
    return [];
  }
}

/** What the configuration files of one folder say: of a directory, or of a part of a module's archive. */
export interface Module {
  /** The same for each way that leads here. */
  readonly key: string;
  /** Of the files that were read. */
  readonly names: readonly string[];
  readonly required: readonly ProviderDeclaration[];
  readonly calls: readonly ModuleCall[];
  readonly problems: readonly Failure<"input">[];
  /** Opens the module at a path from here; undefined where it may be missing. */
  readonly enter: (path: string) => Promise<Module | undefined>;
}

/** True for a file that configures a module. */
export function isConfigurationFile(name: string): boolean {
  return /^[^./][^/]*\.(?:tf|tofu)(?:\.json)?$/.test(name);
}

/** Reads the files that clients choose of those in a folder; `show` returns the name of one for messages. */
export async function readModule(
  present: readonly string[],
  show: (name: string) => string,
  read: (name: string) => Promise<string> | string,
): Promise<Omit<Module, "key" | "enter">> {
  // An archive may have thousands.
  const own = new Set(present.filter(isConfigurationFile));
  const isOverride = (name: string) =>
    /(?:^|_)override\.(?:tf|tofu)(?:\.json)?$/.test(name);
  const names = [...own]
    .filter((name) => {
      // Of two that differ in `.tf` and `.tofu` only, the latter (OpenTofu, "dirFiles").
      const twin = name.replace(/\.tf(\.json)?$/, ".tofu$1");
      return twin === name || !own.has(twin);
    })
    .toSorted()
    // Entries of override files stand for those of the same local name.
    .toSorted((a, b) => Number(isOverride(a)) - Number(isOverride(b)));
  const required = new Map<string, ProviderDeclaration>();
  const implied: ProviderDeclaration[] = [];
  const calls: ModuleCall[] = [];
  const problems: Failure<"input">[] = [];
  for (const name of names)
    try {
      const text = await read(name);
      const root = await parseHcl(show(name), text);
      const file = readDeclarations(show(name), text, root);
      for (const one of file.required) required.set(one.localName, one);
      implied.push(...file.implied);
      calls.push(...file.calls);
      problems.push(...file.problems);
    } catch (error) {
      noteProblem(problems, show(name), error);
    }
  for (const one of implied) {
    const known = required.get(one.localName);
    if (known !== undefined && one.constraint.length === 0) continue;
    const constraint = [...(known?.constraint ?? []), ...one.constraint];
    required.set(one.localName, { ...one, ...known, constraint });
  }
  return { names, required: [...required.values()], calls, problems };
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
  | { readonly enter: (subdirectory: string) => Promise<Module> }
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

/** What a module and all that it calls require together. */
export async function followModules(
  start: Module,
  registry: string,
  open: OpenModule,
  installed: readonly InstalledCall[] = [],
) {
  const called = new Set<string>();
  const find = async (from: Module, call: ModuleCall) => {
    const { source, constraint, where, isExpression } = call;
    if (isExpression) return { because: onlyClientsKnow };
    if (isLocalSource(source)) return from.enter(source);
    const named = parseModuleCall(source, registry);
    if (!named) return { because: "it is no module of a registry" };
    const many = `more than ${mostPackages} modules are called`;
    if (called.add(source).size > mostPackages)
      throw failure("input", where, many, "no configuration needs as many");
    const found = await open(named.address, constraint, where);
    return "because" in found ? found : found.enter(named.subdirectory);
  };
  const notCarried: NotCarried[] = [];
  const failed: ProvenderError[] = [];
  const reached = new Map([[start.key, start]]);
  // Those that are reached on the way follow.
  for (const module of reached.values())
    for (const call of module.calls.flatMap((one) =>
      resolveCall(installed, module.key, one),
    ))
      try {
        const found = await find(module, call);
        if (found === undefined) continue;
        const { source, where } = call;
        if ("because" in found)
          notCarried.push({ ...found, source: withoutQuery(source), where });
        else if (!reached.has(found.key)) reached.set(found.key, found);
      } catch (error) {
        const isForeseen = error instanceof ProvenderError;
        if (!isForeseen || error.code === "hostile-input") throw error;
        failed.push(error);
      }
  const all = requireTogether([...reached.values()], registry);
  return { ...all, notCarried, problems: [...all.problems, ...failed] };
}

/** What an `init` found a call to be whose source is an expression. It may be reached by several ways, on each of which it may mean something else. */
function resolveCall(
  installed: readonly InstalledCall[],
  key: string,
  call: ModuleCall,
): readonly ModuleCall[] {
  const keys = installed
    .filter(({ folder }) => folder === key)
    .map(({ Key }) => (Key === "" ? call.name : `${Key}.${call.name}`));
  const known = installed
    .filter(({ Key }) => call.isExpression && keys.includes(Key))
    .map(({ Source: source, Version: constraint }) => {
      return { ...call, source, constraint, isExpression: false };
    });
  return known.length > 0 ? known : [call];
}

/** A provider that a module needs; `where` is FILE:LINE. */
interface Requirement {
  readonly provider: ProviderAddress;
  /** HOSTNAME/NAMESPACE/TYPE. */
  readonly name: string;
  readonly constraint: VersionConstraint;
  readonly where: string;
}

/** Different terms about one provider; a large configuration has ten. */
const mostTerms = 100;

/** Collects what one configuration's modules require, each provider once; clients require all constraints to hold at once. */
function requireTogether(modules: readonly Module[], registry: string) {
  const problems = modules.flatMap((module) => module.problems);
  const all: Requirement[] = [];
  for (const { source, constraint, where } of modules.flatMap(
    (module) => module.required,
  ))
    try {
      const address = withHostname(source.toLowerCase(), registry);
      // Part of the client itself.
      if (address.startsWith("terraform.io/builtin/")) continue;
      const provider = parseProviderAddress(address);
      const name = formatProviderAddress(provider);
      all.push({ provider, name, constraint, where });
    } catch (error) {
      noteProblem(problems, where, error);
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
