import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import {
  formatModuleConstraint,
  type ModuleConstraint,
  parseModuleConstraint,
} from "../../address/module-constraint.ts";
import {
  failure,
  type Failure,
  isFailure,
  type ProvenderError,
} from "../../errors/index.ts";
import {
  type ConfigurationFolder,
  type DefaultHostname,
  type Module,
  readModule,
  readTests,
  type Requirement,
  testFolder,
} from "./configuration-module.ts";
import {
  type DependencyLockFile,
  lockFileName,
} from "./dependency-lock-file.ts";
import { readInputFile, takeInput, unreadable } from "./input-file.ts";
import {
  followModules,
  type ModuleReading,
  type NotCarried,
} from "./module-tree.ts";
import { readDependencyLocks } from "./parser.ts";
import { isLocalSource, type ModuleCall } from "./required-providers.ts";

/** A directory in which a client is run: what it locks, and what it and the modules that it calls require together. */
export interface ConfigurationRoot {
  readonly directory: string;
  readonly locks: DependencyLockFile | undefined;
  /** One for each provider. */
  readonly requirements: readonly Requirement[];
  readonly client: "terraform" | "tofu";
  readonly problems: readonly ProvenderError[];
  readonly notCarried: readonly NotCarried[];
}

interface FoundRoots {
  readonly roots: readonly ConfigurationRoot[];
  readonly problems: readonly ProvenderError[];
}

/** Directories that one search looks into at most. */
const mostDirectories = 50_000;

/**
 * The roots in a directory and below it. Hidden directories, `.terraform`
 * among them, are not searched; a directory that was reached once by any name
 * is not entered again. A directory that another one calls as a module and
 * that has no lock file is no root, unless it was named and has tests.
 */
export async function findRoots(
  path: string,
  reading: ModuleReading,
): Promise<FoundRoots> {
  const modules = new Map<string, Module>();
  const shown = new Map<string, string>();
  const problems: Failure<"input">[] = [];
  for await (const directory of searchDirectories(path, problems)) {
    const folder = await openFolder(directory.shown);
    modules.set(directory.real, await readModule(folder));
    shown.set(directory.real, directory.shown);
  }
  const called = new Set([...modules.values()].flatMap(({ calls }) => calls));
  const [named] = shown;
  const tested = named && (await readTestsOf(named[1])).hasFiles && named[0];
  for (const [real, directory] of shown)
    if (!called.has(real) || real === tested)
      for (const one of (await readTestsOf(directory)).calls)
        if (one !== real) called.add(one);
  for (const directory of shown.values())
    for (const real of await new InstalledModules(directory).listDirectories())
      called.add(real);
  const roots: ConfigurationRoot[] = [];
  for (const [real, directory] of shown) {
    const locks = await findLocks(directory);
    const isRoot =
      locks !== undefined ||
      (modules.get(real)?.hasFiles === true &&
        (!called.has(real) || real === tested));
    if (isRoot) roots.push(await readRoot(directory, locks, modules, reading));
  }
  const known = problems.length + modules.size > 0;
  if (roots.length === 0 && known && problems.length === 0)
    problems.push(
      failure(
        "input",
        path,
        `there is neither a ${lockFileName} nor a configuration here or below`,
        "give the directory of one",
      ),
    );
  return {
    roots,
    problems: [...problems, ...roots.flatMap((root) => root.problems)],
  };
}

/** One directory as a root, whether or not something is in it. Throws an input error when it is no directory. */
export async function readRootDirectory(
  directory: string,
  reading: ModuleReading,
): Promise<ConfigurationRoot> {
  try {
    if (!(await stat(directory)).isDirectory())
      throw failure(
        "input",
        directory,
        "it is not a directory",
        "give the path of one",
      );
  } catch (error) {
    throw unreadable(directory, error);
  }
  return readRoot(directory, await findLocks(directory), new Map(), reading);
}

async function readRoot(
  directory: string,
  locks: DependencyLockFile | undefined,
  modules: Map<string, Module>,
  reading: ModuleReading,
): Promise<ConfigurationRoot> {
  const installed = new InstalledModules(directory);
  const tests = await readTestsOf(directory);
  const tree = await readTree(directory, modules, installed, tests);
  const locked = new Set(locks?.locks.map(({ name }) => name));
  const isTofu = isForTofu(locks, tree);
  const registry = isTofu ? "registry.opentofu.org" : "registry.terraform.io";
  const followed = await followModules(tree, registry, reading);
  const hostname: DefaultHostname = (short) =>
    locked.has(`registry.opentofu.org/${short}`) ||
    (isTofu && !locked.has(`registry.terraform.io/${short}`))
      ? "registry.opentofu.org"
      : "registry.terraform.io";
  const all = [...tree, ...followed.modules];
  const { requirements, problems } = requireTogether(all, hostname);
  return {
    directory,
    locks,
    requirements,
    client: isTofu ? "tofu" : "terraform",
    problems: [...problems, ...followed.problems],
    notCarried: followed.notCarried,
  };
}

/**
 * Collects the requirements of one configuration's modules; clients require all
 * constraints to hold at once.
 */
export function requireTogether(
  modules: readonly Module[],
  hostname: DefaultHostname,
): {
  readonly requirements: readonly Requirement[];
  readonly problems: readonly Failure<"input">[];
} {
  const read = modules.map((module) => module.requirements(hostname));
  const merged = mergeRequirements(
    read.flatMap(({ requirements }) => requirements),
  );
  return {
    requirements: merged.requirements,
    problems: [...modules, ...read, merged].flatMap(({ problems }) => problems),
  };
}

/** What the test files of a directory call, which are beside its configuration and in one folder below it. */
async function readTestsOf(directory: string): Promise<Module> {
  const folder = await openFolder(directory);
  const below = await listFiles(join(directory, testFolder)).catch(() => []);
  const names = below.map((name) => `${testFolder}/${name}`);
  return readTests({ ...folder, names: [...folder.names, ...names] });
}

/** The module of a directory and, through any number of calls, the local ones that it and its tests need. */
async function readTree(
  directory: string,
  modules: Map<string, Module>,
  installed: InstalledModules,
  tests: Module,
): Promise<readonly Module[]> {
  const tree = new Map<string, Module>();
  const pending = [await realpath(directory), ...tests.calls];
  for (let real = pending.pop(); real !== undefined; real = pending.pop()) {
    if (tree.has(real)) continue;
    const module = modules.get(real) ?? (await readIfThere(real));
    if (module === undefined) continue;
    modules.set(real, module);
    const resolved = await installed.resolve(real, module);
    tree.set(real, resolved);
    pending.push(...resolved.calls);
  }
  return [...tree.values(), tests];
}

async function readIfThere(real: string): Promise<Module | undefined> {
  const folder = await openFolder(real).catch(() => undefined);
  return folder && readModule(folder);
}

async function openFolder(directory: string): Promise<ConfigurationFolder> {
  const show = (name: string) => join(directory, name);
  return {
    names: await listFiles(directory),
    show,
    read: (name) => readInputFile(show(name)),
    locate: (call) => realpath(show(call)).catch(() => show(call)),
  };
}

/** Folders are no configuration, whatever they are called. */
async function listFiles(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name);
}

/** OpenTofu means another registry by a source without a hostname, so the traces that it leaves decide. */
function isForTofu(
  locks: DependencyLockFile | undefined,
  tree: readonly Module[],
): boolean {
  if (locks !== undefined && locks.locks.length > 0)
    return locks.locks.some(
      ({ provider }) => provider.hostname === "registry.opentofu.org",
    );
  return (
    locks?.text.includes('by "tofu init"') === true ||
    tree.some((module) => module.isTofu)
  );
}

/** Different terms about one provider; a large configuration has ten. */
const mostTerms = 100;

function mergeRequirements(requirements: readonly Requirement[]) {
  const merged: Requirement[] = [];
  const problems: Failure<"input">[] = [];
  for (const [first, ...others] of Map.groupBy(
    requirements,
    ({ name }) => name,
  ).values()) {
    if (first === undefined) continue;
    const terms = [first, ...others].flatMap(({ constraint }) => constraint);
    const distinct = new Map(
      terms.map((term) => [
        `${term.operator} ${term.boundary} ${term.below}`,
        term,
      ]),
    );
    const constraint = [...distinct.values()];
    if (constraint.length > mostTerms)
      problems.push(
        failure(
          "input",
          first.where,
          `${first.name} is required with more than ${mostTerms} different terms`,
          "remove some",
        ),
      );
    else merged.push({ ...first, constraint });
  }
  return { requirements: merged, problems };
}

async function findLocks(
  directory: string,
): Promise<DependencyLockFile | undefined> {
  const path = join(directory, lockFileName);
  const found = await stat(path).catch(() => undefined);
  return found === undefined
    ? undefined
    : readDependencyLocks(await takeInput(path));
}

/** Each directory once, with its real path and the name under which it was reached. */
async function* searchDirectories(
  path: string,
  problems: Failure<"input">[],
): AsyncGenerator<{ readonly real: string; readonly shown: string }> {
  const seen = new Set<string>();
  const pending = [path];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const entered = await enter(next, seen, problems);
    if (entered === undefined) continue;
    if (seen.size > mostDirectories) {
      const problem = `it has more than ${mostDirectories} directories below it`;
      problems.push(failure("input", path, problem, "name one below it"));
      return;
    }
    yield { real: entered.real, shown: next };
    pending.push(...entered.below.toReversed());
  }
}

async function enter(
  path: string,
  seen: Set<string>,
  problems: Failure<"input">[],
): Promise<
  { readonly real: string; readonly below: readonly string[] } | undefined
> {
  try {
    const real = await realpath(path);
    if (seen.has(real)) return undefined;
    seen.add(real);
    const entries = await readdir(path, { withFileTypes: true });
    const names: string[] = [];
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const isLinked =
        entry.isSymbolicLink() && (await isDirectory(join(path, entry.name)));
      if (entry.isDirectory() || isLinked) names.push(entry.name);
    }
    return { real, below: names.toSorted().map((name) => join(path, name)) };
  } catch (error) {
    problems.push(unreadable(path, error));
    return undefined;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Modules of no registry have no version. */
function readVersion(text: string): ModuleConstraint {
  return text === "" ? [] : parseModuleConstraint(text);
}

/** A call as an `init` installed it: labels from the root on, joined by dots. */
const shape = z.object({
  Modules: z.array(
    z.object({
      Key: z.string(),
      Source: z.string(),
      Version: z.string().default("").transform(readVersion),
      /** Path from the root. */
      Dir: z.string(),
    }),
  ),
});

type Entry = z.infer<typeof shape>["Modules"][number];

interface Installed {
  readonly byKey: ReadonlyMap<string, Entry>;
  /** Keys of the calls that lead to a directory, by its real path. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
}

const nothingInstalled: Installed = { byKey: new Map(), keys: new Map() };

/**
 * Modules that an `init` in a root directory installed, as recorded in
 * `.terraform/modules/modules.json`. Only that file resolves a source that is
 * an expression.
 */
class InstalledModules {
  readonly #root: string;
  #read: Promise<Installed> | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** Lists the real paths of the directories that calls lead to; none where no `init` was. */
  async listDirectories(): Promise<readonly string[]> {
    this.#read ??= this.#readFile();
    // The call reports its own problem with an unreadable file.
    const { keys } = await this.#read.catch(() => nothingInstalled);
    return [...keys].flatMap(([real, named]) =>
      named.includes("") ? [] : [real],
    );
  }

  /**
   * Resolves the calls of a module in the directory `real` whose source or
   * version is an expression. Other calls stay unchanged.
   */
  async resolve(real: string, module: Module): Promise<Module> {
    const isLeft = ({ isExpression }: ModuleCall) => isExpression;
    if (!module.remoteCalls.some(isLeft)) return module;
    const calls = [...module.calls];
    const remoteCalls: ModuleCall[] = [];
    const problems: Failure<"input">[] = [];
    try {
      this.#read ??= this.#readFile();
      const installed = await this.#read;
      for (const call of module.remoteCalls) {
        const found = call.isExpression ? findAll(installed, real, call) : [];
        if (found.length === 0) remoteCalls.push(call);
        for (const entry of found)
          if (isLocalSource(entry.Source))
            calls.push(await this.#locate(entry));
          else remoteCalls.push(asCall(call, entry));
      }
    } catch (error) {
      if (!isFailure(error, "input")) throw error;
      problems.push(error);
      remoteCalls.push(...module.remoteCalls);
    }
    return {
      ...module,
      ...{ calls, remoteCalls },
      problems: [...module.problems, ...problems],
    };
  }

  async #readFile(): Promise<Installed> {
    const path = join(this.#root, ".terraform", "modules", "modules.json");
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (!isThere) return nothingInstalled;
    const { Modules } = parse(path, await readInputFile(path));
    // The root stays one, also where a call leads to it.
    const keys = new Map([[await realpath(this.#root), [""]]]);
    for (const entry of Modules) {
      const real = await this.#locate(entry);
      const known = keys.get(real);
      if (known === undefined) keys.set(real, [entry.Key]);
      else known.push(entry.Key);
    }
    return { keys, byKey: new Map(Modules.map((one) => [one.Key, one])) };
  }

  #locate({ Dir }: Entry): Promise<string> {
    const path = join(this.#root, Dir);
    return realpath(path).catch(() => path);
  }
}

/** One call may be reached by several ways, on each of which its expression may mean something else. */
function findAll(
  { byKey, keys }: Installed,
  real: string,
  { name }: ModuleCall,
): readonly Entry[] {
  const found = (keys.get(real) ?? []).flatMap((key) => {
    const entry = byKey.get(key === "" ? name : `${key}.${name}`);
    return entry === undefined ? [] : [entry];
  });
  const named = ({ Source, Version }: Entry) =>
    `${Source} ${formatModuleConstraint(Version)}`;
  return [...new Map(found.map((one) => [named(one), one])).values()];
}

function asCall(call: ModuleCall, { Source, Version }: Entry): ModuleCall {
  const named = { source: Source, constraint: Version };
  return { ...call, ...named, isExpression: false };
}

function parse(path: string, text: string): z.infer<typeof shape> {
  try {
    return shape.parse(JSON.parse(text));
  } catch (error) {
    throw failure(
      "input",
      path,
      `it is not what "init" writes`,
      `remove it and run "init" again`,
      { cause: error },
    );
  }
}
