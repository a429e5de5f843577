import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { parseModuleConstraint } from "../../address/module-constraint.ts";
import { failure, type ProvenderError } from "../../errors/index.ts";
import { isLocalSource, type ModuleCall } from "./declarations.ts";
import { clientOf, lockFileName } from "./dependency-lock-file.ts";
import { readInputFile, unreadable } from "./input-file.ts";
import {
  type Folder,
  followModules,
  type Module,
  type OpenModule,
  readModule,
} from "./modules.ts";
import { readLockFile } from "./parser.ts";

/** What is in a directory, without what it calls. */
interface FoundDirectory {
  readonly directory: string;
  readonly folder: Folder;
  /** With its tests. */
  readonly module: Module;
  readonly installed: readonly InstalledCall[];
  readonly problems: readonly ProvenderError[];
}

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

async function readDirectory(directory: string): Promise<FoundDirectory> {
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
async function readInstalled(
  root: string,
): Promise<Pick<FoundDirectory, "installed" | "problems">> {
  const path = join(root, ".terraform", "modules", "modules.json");
  if (!(await stat(path).then(Boolean, () => false)))
    return { installed: [], problems: [] };
  try {
    const text = await readInputFile(path);
    const installed: InstalledCall[] = [];
    for (const one of modulesJson.parse(JSON.parse(text)).Modules) {
      installed.push({ ...one, real: await realOf(join(root, one.Dir)) });
    }
    return { installed, problems: [] };
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
