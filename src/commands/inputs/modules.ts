import { posix } from "node:path";
import { hostnameAsWritten } from "../../address/hostname.ts";
import type { ModuleAddress } from "../../address/module-address.ts";
import type { ModuleConstraint } from "../../address/module-constraint.ts";
import { withoutQuery } from "../../address/module-source.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseModuleCall } from "../../address/specs/module-spec.ts";
import type { VersionConstraint } from "../../address/version-constraint.ts";
import { failure, type Failure, ProvenderError } from "../../errors/index.ts";
import type { ModuleFiles } from "../../mirror/modules/files.ts";
import {
  isLocalSource,
  type ModuleCall,
  type ProviderDeclaration,
} from "./declarations.ts";
import { noteProblem, readInputBytes } from "./input-file.ts";
import { parseConfiguration } from "./parser.ts";

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
export interface Module {
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

export function isConfigurationFile(path: string): boolean {
  return extension.test(posix.basename(path));
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

/** A module's archive; opens the folder that a call names, from the module's own. */
interface ModulePackage {
  folder(subdirectory: string): Folder;
}

/** Module's package, or the reason why it is not carried. */
export type FoundModule = ModulePackage | { readonly because: string };

/** Gets a module of a registry: the newest version that the constraint allows. */
export type OpenModule = (
  module: ModuleAddress,
  constraint: ModuleConstraint,
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

/** More links that follow one another are a circle. */
const mostLinks = 40;

/**
 * Opens folders of a module's archive, which is not unpacked. `name` is HOSTNAME/NAMESPACE/NAME/SYSTEM VERSION, `top` the
 * module's folder in it, where a `*` stands for the one folder of its name.
 */
export function openPackage(
  name: string,
  { files, links }: ModuleFiles,
  top: string,
): ModulePackage {
  const folders = new Map<string, string[]>([["", []]]);
  for (const path of [...files.keys(), ...links.keys()]) {
    for (let at = folderOf(path); !folders.has(at); at = folderOf(at))
      folders.set(at, []);
    folders.get(folderOf(path))?.push(posix.basename(path));
  }
  const shape = top.replaceAll(/[^\w/-]/g, "\\$&").replaceAll("\\*", "[^/]+");
  const whole = new RegExp(`^${shape}$`);
  const tops = [...folders.keys()].filter((folder) => whole.test(folder));
  const own = tops.length === 1 ? (tops[0] ?? top) : top;
  const open = (written: string): Folder => {
    const path = followLinks(links, written);
    const names = folders.get(path);
    const missing = `no folder "${path}" is in it`;
    if (names === undefined)
      throw failure("input", name, missing, "see its caller");
    const show = (file: string) => `${name}//${posix.join(path, file)}`;
    const read = (file: string) => {
      const bytes = files.get(followLinks(links, posix.join(path, file)));
      if (bytes !== undefined) return readInputBytes(show(file), bytes);
      const problem = "it is a link to nothing";
      throw failure("input", show(file), problem, "tell its publisher");
    };
    return {
      key: `${name}//${path}`,
      names: names.filter((one) => !folders.has(posix.join(path, one))),
      show,
      read,
      enter: (call) => open(posix.join(path, call)),
    };
  };
  return { folder: (subdirectory) => open(posix.join(own, subdirectory)) };
}

/** Resolves links in a path; a folder is named without a slash at its end. */
function followLinks(links: ModuleFiles["links"], path: string): string {
  let parts = partsOf(path);
  for (let left = mostLinks; left > 0; left--) {
    const upTo = (at: number) => parts.slice(0, at + 1).join("/");
    const at = parts.findIndex((_, index) => links.has(upTo(index)));
    if (at < 0) break;
    const target = partsOf(links.get(upTo(at)) ?? "");
    parts = [...target, ...parts.slice(at + 1)];
  }
  return parts.join("/");
}

function partsOf(path: string): readonly string[] {
  const parts = posix.normalize(path).split("/");
  return parts.filter((part) => part !== "" && part !== ".");
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
