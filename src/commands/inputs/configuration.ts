import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { hostnameAsWritten } from "../../address/hostname.ts";
import type { ModuleAddress } from "../../address/module-address.ts";
import {
  parseModuleConstraint,
  type ModuleConstraint,
} from "../../address/module-constraint.ts";
import { withoutQuery } from "../../address/module-source.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseModuleCall } from "../../address/specs/module-spec.ts";
import type { VersionConstraint } from "../../address/version-constraint.ts";
import {
  failure,
  type Failure,
  type ProvenderError,
} from "../../errors/index.ts";
import {
  isLocalSource,
  type Declarations,
  type ModuleCall,
} from "./declarations.ts";
import {
  clientOf,
  lockFileName,
  type ProviderLock,
} from "./dependency-lock-file.ts";
import {
  noteProblem,
  readInputFile,
  takeInput,
  unreadable,
} from "./input-file.ts";
import { parseConfiguration, readDependencyLocks } from "./parser.ts";

/** A provider that a root and the local modules below it require together; `where` is FILE:LINE. */
interface Requirement {
  readonly provider: ProviderAddress;
  readonly constraint: VersionConstraint;
  readonly where: string;
}

/** A module of a registry that is called. */
interface CalledModule {
  readonly module: ModuleAddress;
  readonly constraint: ModuleConstraint;
  readonly where: string;
}

/** A module that is called and that no mirror has for clients. */
export interface NotCarried {
  /** Without what may be a secret. */
  readonly source: string;
  readonly where: string;
  readonly because: string;
}

/** What the roots of a directory lock, what they require beside that, and the modules that they call. */
interface FoundConfiguration {
  readonly locks: readonly ProviderLock[];
  readonly required: readonly Requirement[];
  readonly modules: readonly CalledModule[];
  readonly notCarried: readonly NotCarried[];
  readonly problems: readonly ProvenderError[];
}

/** What the configuration files of one directory say. */
interface Folder extends Declarations {
  readonly directory: string;
  /** Its path without links. */
  readonly real: string;
  /** Of its files. */
  readonly names: readonly string[];
  readonly isConfigured: boolean;
}

/** Directories that one search looks into at most. */
const mostDirectories = 50_000;
/** Different terms about one provider; a large configuration has ten. */
const mostTerms = 100;

/**
 * Reads a directory and those below it. Hidden directories, `.terraform` among them, and links to directories are not searched. A
 * directory that another one calls as a local module counts with its caller, unless it has a lock file or was named.
 */
export async function readConfiguration(
  path: string,
): Promise<FoundConfiguration> {
  const problems: ProvenderError[] = [];
  const folders: Folder[] = [];
  const pending = [path];
  for (const directory of pending) {
    const many = `it has more than ${mostDirectories} directories below it`;
    if (pending.length > mostDirectories) {
      problems.push(failure("input", path, many, "name one below it"));
      break;
    }
    try {
      const entries = await readdir(directory, { withFileTypes: true });
      folders.push(await readFolder(directory));
      const below = entries
        .filter((one) => one.isDirectory() && !one.name.startsWith("."))
        .map(({ name }) => join(directory, name));
      pending.push(...below.toSorted());
    } catch (error) {
      problems.push(unreadable(directory, error));
    }
  }
  const known = new Map(folders.map((folder) => [folder.real, folder]));
  const called = new Set(
    (
      await Promise.all(
        folders.map(async (folder) =>
          (await localCalls(folder)).filter((real) => real !== folder.real),
        ),
      )
    ).flat(),
  );
  const roots = folders.filter(
    ({ directory, real, names, isConfigured }) =>
      names.includes(lockFileName) ||
      (isConfigured && (directory === path || !called.has(real))),
  );
  const nothing = `there is neither a ${lockFileName} nor a configuration here or below`;
  if (roots.length + problems.length === 0)
    problems.push(failure("input", path, nothing, "give the directory of one"));
  const read: FoundConfiguration[] = [];
  for (const root of roots) read.push(await readRoot(root, known));
  return {
    locks: read.flatMap((root) => root.locks),
    required: read.flatMap((root) => root.required),
    modules: read.flatMap((root) => root.modules),
    notCarried: read.flatMap((root) => root.notCarried),
    problems: [...problems, ...read.flatMap((root) => root.problems)],
  };
}

/** Reads the files that clients choose. */
async function readFolder(directory: string): Promise<Folder> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
  const read = names
    .filter((name) => /^[^.].*\.(?:tf|tofu)(?:\.json)?$/.test(name))
    // Of two that differ in `.tf` and `.tofu` only, the latter (OpenTofu, "dirFiles").
    .filter((name) => {
      const twin = name.replace(/\.tf(\.json)?$/, ".tofu$1");
      return twin === name || !names.includes(twin);
    });
  const files: Declarations[] = [];
  const unread: Failure<"input">[] = [];
  for (const name of read) {
    const path = join(directory, name);
    try {
      files.push(await parseConfiguration(path, await readInputFile(path)));
    } catch (error) {
      noteProblem(unread, path, error);
    }
  }
  return {
    ...{ directory, real: await realpath(directory), names },
    isConfigured: read.length > 0,
    required: files.flatMap((file) => file.required),
    calls: files.flatMap((file) => file.calls),
    problems: [...unread, ...files.flatMap((file) => file.problems)],
  };
}

/** The real paths of the local modules that a directory calls. */
function localCalls({ directory, calls }: Folder): Promise<readonly string[]> {
  const local = calls.filter(
    ({ source, isExpression }) => !isExpression && isLocalSource(source),
  );
  return Promise.all(
    local.map(({ source }) => {
      const path = join(directory, source);
      return realpath(path).catch(() => path);
    }),
  );
}

async function readRoot(
  root: Folder,
  known: Map<string, Folder>,
): Promise<FoundConfiguration> {
  const reached = new Map([[root.real, root]]);
  // Those that are reached on the way follow.
  for (const folder of reached.values())
    for (const real of await localCalls(folder)) {
      if (reached.has(real)) continue;
      const read =
        known.get(real) ?? (await readFolder(real).catch(() => undefined));
      if (read === undefined) continue;
      known.set(real, read);
      reached.set(real, read);
    }
  const folders = [...reached.values()];
  const file = root.names.includes(lockFileName)
    ? await readDependencyLocks(
        await takeInput(join(root.directory, lockFileName)),
      )
    : undefined;
  const locks = file?.locks ?? [];
  const isTofu =
    file === undefined
      ? root.names.some((name) => /\.tofu(\.json)?$/.test(name))
      : clientOf(file) === "tofu";
  const registry = isTofu ? "registry.opentofu.org" : "registry.terraform.io";
  const problems: ProvenderError[] = [
    ...folders.flatMap((folder) => folder.problems),
    ...(file?.problems ?? []),
  ];
  const required = requireTogether(folders, registry, problems);
  const locked = new Set(locks.map(({ name }) => name));
  const installed = await readInstalled(root.directory, problems);
  const calls = installed ?? folders.flatMap((folder) => folder.calls);
  return {
    ...{ locks, problems, ...sortCalls(calls, registry) },
    required: required.filter(
      ({ provider }) => !locked.has(formatProviderAddress(provider)),
    ),
  };
}

/** Each provider once; clients require all constraints of a configuration to hold at once. */
function requireTogether(
  folders: readonly Folder[],
  registry: string,
  problems: ProvenderError[],
): readonly Requirement[] {
  const all = new Map<string, Requirement>();
  for (const one of folders.flatMap(({ required }) => required))
    try {
      const { localName, source = localName, where } = one;
      const address = withHostname(source.toLowerCase(), registry);
      // Part of the client itself.
      if (address.startsWith("terraform.io/builtin/")) continue;
      const provider = parseProviderAddress(address);
      const name = formatProviderAddress(provider);
      const first = all.get(name) ?? { provider, constraint: [], where };
      const terms = [...first.constraint, ...one.constraint];
      const distinct = new Map(
        terms.map((term) => [JSON.stringify(term), term]),
      );
      const many = `${name} is required with more than ${mostTerms} different terms`;
      if (distinct.size > mostTerms)
        throw failure("input", where, many, "remove some");
      all.set(name, { ...first, constraint: [...distinct.values()] });
    } catch (error) {
      noteProblem(problems, one.where, error);
    }
  return [...all.values()];
}

/** One part means `hashicorp/NAME`, two leave out the hostname; `terraform` is built in. */
function withHostname(source: string, registry: string): string {
  const [first = "", ...rest] = source.split("/");
  if (source === "terraform") return "terraform.io/builtin/terraform";
  if (rest.length === 0) return `${registry}/hashicorp/${source}`;
  if (rest.length === 1) return `${registry}/${source}`;
  return [hostnameAsWritten(first), ...rest].join("/");
}

/** Divides calls into modules of registries and those that only clients can fetch; local ones are neither. */
function sortCalls(calls: readonly ModuleCall[], registry: string) {
  const modules: CalledModule[] = [];
  const notCarried: NotCarried[] = [];
  for (const { source: written, constraint, where, isExpression } of calls) {
    const refuse = (because: string) =>
      notCarried.push({ source: withoutQuery(written), where, because });
    if (isExpression)
      refuse('only clients know what its expression means: run "init" there');
    else if (!isLocalSource(written)) {
      const named = parseModuleCall(written, registry);
      if (named === undefined) refuse("it is no module of a registry");
      else modules.push({ module: named.address, constraint, where });
    }
  }
  return { modules, notCarried };
}

/** Calls as an `init` installed them, those of modules of registries among them. */
const modulesJson = z.object({
  Modules: z.array(
    z.object({
      /** Labels from the root on, joined by dots; the root itself has none. */
      Key: z.string(),
      Source: z.string(),
      // Modules of no registry have none.
      Version: z
        .string()
        .default("")
        .transform((text) => (text === "" ? [] : parseModuleConstraint(text))),
    }),
  ),
});

/** Reads which modules an `init` installed in a root; undefined where there was none. */
async function readInstalled(
  root: string,
  problems: ProvenderError[],
): Promise<readonly ModuleCall[] | undefined> {
  const path = join(root, ".terraform", "modules", "modules.json");
  if (!(await stat(path).then(Boolean, () => false))) return undefined;
  try {
    const read = modulesJson.parse(JSON.parse(await readInputFile(path)));
    return read.Modules.filter(({ Key }) => Key !== "").map(
      ({ Source: source, Version: constraint }) => {
        return { source, constraint, where: path, isExpression: false };
      },
    );
  } catch (cause) {
    const problem = `it is not what "init" writes`;
    const remedy = `remove it and run "init" again`;
    problems.push(failure("input", path, problem, remedy, { cause }));
    return undefined;
  }
}
