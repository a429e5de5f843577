import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { parseModuleConstraint } from "../../address/module-constraint.ts";
import {
  failure,
  type Failure,
  type ProvenderError,
} from "../../errors/index.ts";
import {
  type ConfigurationFolder,
  type Module,
  readModule,
  requireTogether,
  type Requirement,
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
import {
  isLocalSource,
  type ModuleCall,
  testFile,
} from "./required-providers.ts";

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

/** What is in a directory, without what it calls. */
interface FoundDirectory {
  readonly directory: string;
  readonly real: string;
  readonly module: Module;
  /** An `init` installs what they call, too; they require nothing themselves. */
  readonly tests: Module;
  readonly locks: DependencyLockFile | undefined;
  readonly installed: InstalledModules;
}

/** Directories that one search looks into at most. */
const mostDirectories = 50_000;

/**
 * The roots in a directory and below it. Hidden directories, `.terraform`
 * among them, and links to directories are not searched. A directory that
 * another one calls as a module and that has no lock file is no root, unless
 * it was named.
 */
export async function findRoots(path: string, reading: ModuleReading) {
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
  const called = new Set(
    found.flatMap(({ real, module, tests, installed }) =>
      [...module.calls, ...tests.calls, ...installed.keys.keys()].filter(
        (one) => one !== real,
      ),
    ),
  );
  const modules = new Map(found.map(({ real, module }) => [real, module]));
  const roots: ConfigurationRoot[] = [];
  for (const one of found) {
    const isFree = one.directory === path || !called.has(one.real);
    if (one.locks || (isFree && one.module.names.length > 0))
      roots.push(await readRoot(one, modules, reading));
  }
  const nothing = `there is neither a ${lockFileName} nor a configuration here or below`;
  if (roots.length + problems.length === 0)
    problems.push(failure("input", path, nothing, "give the directory of one"));
  problems.push(...roots.flatMap((root) => root.problems));
  return { roots, problems };
}

/** One directory as a root, whether or not something is in it. */
export async function readRootDirectory(
  directory: string,
  reading: ModuleReading,
): Promise<ConfigurationRoot> {
  try {
    return await readRoot(await readDirectory(directory), new Map(), reading);
  } catch (error) {
    throw unreadable(directory, error);
  }
}

async function readDirectory(directory: string): Promise<FoundDirectory> {
  const folder = await openFolder(directory);
  const below = await openFolder(join(directory, "tests")).catch(
    () => undefined,
  );
  const tests = below?.names.map((name) => `tests/${name}`) ?? [];
  const path = join(directory, lockFileName);
  return {
    directory,
    real: await realpath(directory),
    module: await readModule(folder),
    tests: await readModule(
      { ...folder, names: [...folder.names, ...tests] },
      testFile,
    ),
    locks: folder.names.includes(lockFileName)
      ? await readDependencyLocks(await takeInput(path))
      : undefined,
    installed: await readInstalled(directory),
  };
}

async function openFolder(directory: string): Promise<ConfigurationFolder> {
  const entries = await readdir(directory, { withFileTypes: true });
  const show = (name: string) => join(directory, name);
  return {
    names: entries
      .filter((entry) => !entry.isDirectory())
      .map(({ name }) => name),
    show,
    read: (name) => readInputFile(show(name)),
    locate: (call) => realpath(show(call)).catch(() => show(call)),
  };
}

async function readRoot(
  found: FoundDirectory,
  modules: Map<string, Module>,
  reading: ModuleReading,
): Promise<ConfigurationRoot> {
  const { directory, locks, installed } = found;
  const tree = await readTree(found, modules);
  const client = clientOf(locks, tree);
  const registry =
    client === "tofu" ? "registry.opentofu.org" : "registry.terraform.io";
  const followed = await followModules(tree, registry, reading);
  const { requirements, problems } = requireTogether(
    followed.modules,
    registry,
  );
  return {
    ...{ directory, locks, client, requirements },
    problems: [...installed.problems, ...problems, ...followed.problems],
    notCarried: followed.notCarried,
  };
}

/** The module of a root and, through any number of calls, the local ones that it and its tests need. */
async function readTree(
  { real: root, tests, installed }: FoundDirectory,
  modules: Map<string, Module>,
): Promise<readonly Module[]> {
  const tree = new Map<string, Module>();
  const pending = new Set([root, ...tests.calls]);
  for (const real of pending) {
    const module =
      modules.get(real) ??
      (await openFolder(real).then(readModule, () => undefined));
    if (module === undefined) continue;
    modules.set(real, module);
    const resolved = resolveCalls(module, real, installed);
    tree.set(real, resolved);
    for (const one of resolved.calls) pending.add(one);
  }
  return [...tree.values(), tests];
}

/** OpenTofu means another registry by a source without a hostname, so the traces that it leaves decide. */
function clientOf(
  { text, locks }: DependencyLockFile = { text: "", locks: [], problems: [] },
  tree: readonly Module[],
): "terraform" | "tofu" {
  const [, writer] =
    /^# This file is maintained .* "(terraform|tofu) init"/m.exec(text) ?? [];
  if (writer !== undefined) return writer === "tofu" ? "tofu" : "terraform";
  const traces = [
    ...locks.map(({ name }) => name.startsWith("registry.opentofu.org/")),
    ...tree
      .flatMap(({ names }) => names)
      .map((name) => /\.tofu(\.json)?$/.test(name)),
  ];
  return traces.includes(true) ? "tofu" : "terraform";
}

/** A call as an `init` installed it: labels from the root on, joined by dots. */
const shape = z.object({
  Modules: z.array(
    z.object({
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

type InstalledCall = z.infer<typeof shape>["Modules"][number] & {
  readonly real: string;
};

/**
 * Modules that an `init` in a root directory installed, as recorded in
 * `.terraform/modules/modules.json`. Only that file resolves a source that is
 * an expression.
 */
interface InstalledModules {
  readonly calls: ReadonlyMap<string, InstalledCall>;
  /** Keys of the calls that lead to a directory, by its real path. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
  readonly problems: readonly Failure<"input">[];
}

async function readInstalled(root: string): Promise<InstalledModules> {
  const path = join(root, ".terraform", "modules", "modules.json");
  const nothing = { calls: new Map(), keys: new Map() };
  if (!(await stat(path).then(Boolean, () => false)))
    return { ...nothing, problems: [] };
  try {
    const { Modules } = shape.parse(JSON.parse(await readInputFile(path)));
    const calls: InstalledCall[] = [];
    for (const one of Modules) {
      const directory = join(root, one.Dir);
      const real = await realpath(directory).catch(() => directory);
      calls.push({ ...one, real });
    }
    const byPath = Map.groupBy(calls, ({ real }) => real);
    const keys = [...byPath].map(
      ([real, found]) => [real, found.map(({ Key }) => Key)] as const,
    );
    return {
      calls: new Map(calls.map((one) => [one.Key, one])),
      keys: new Map(keys),
      problems: [],
    };
  } catch (cause) {
    const problem = `it is not what "init" writes`;
    const remedy = `remove it and run "init" again`;
    const found = failure("input", path, problem, remedy, { cause });
    return { ...nothing, problems: [found] };
  }
}

/** One call may be reached by several ways, on each of which its expression may mean something else. */
function resolveCalls(
  module: Module,
  real: string,
  installed: InstalledModules,
): Module {
  const calls = [...module.calls];
  const remoteCalls: ModuleCall[] = [];
  for (const call of module.remoteCalls) {
    const keys = call.isExpression ? installed.keys.get(real) : undefined;
    const found = (keys ?? []).flatMap(
      (key) =>
        installed.calls.get(key === "" ? call.name : `${key}.${call.name}`) ??
        [],
    );
    if (found.length === 0) remoteCalls.push(call);
    for (const { Source: source, Version: constraint, real } of found)
      if (isLocalSource(source)) calls.push(real);
      else
        remoteCalls.push({ ...call, source, constraint, isExpression: false });
  }
  return { ...module, calls, remoteCalls };
}
