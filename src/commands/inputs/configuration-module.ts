import { basename } from "node:path";
import { hostnameAsWritten } from "../../address/hostname.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { VersionConstraint } from "../../address/version-constraint.ts";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import { parseConfiguration, parseTestFile } from "./parser.ts";
import {
  isLocalSource,
  type FileDeclarations,
  type ModuleCall,
  type ProviderDeclaration,
} from "./required-providers.ts";

/** A provider that a module needs; `where` is FILE:LINE. */
export interface Requirement {
  readonly provider: ProviderAddress;
  /** HOSTNAME/NAMESPACE/TYPE. */
  readonly name: string;
  readonly constraint: VersionConstraint;
  readonly where: string;
}

/** The registry that a source without hostname means, which differs between the clients. */
export type DefaultHostname = (namespaceAndType: string) => string;

/** Source of configuration files: the disk, or an archive. */
export interface ConfigurationFolder {
  /** All that is there. */
  readonly names: readonly string[];
  /** Returns the name of a file for messages. */
  show(name: string): string;
  /** Throws an input error. */
  read(name: string): Promise<string>;
  /**
   * Returns one key for a folder that may be reached in several ways and need
   * not exist.
   */
  locate(path: string): Promise<string>;
}

/** One directory of configuration files, without what it calls. */
export interface Module {
  readonly hasFiles: boolean;
  /** At least one file is for OpenTofu alone. */
  readonly isTofu: boolean;
  requirements(hostname: DefaultHostname): {
    readonly requirements: readonly Requirement[];
    readonly problems: readonly Failure<"input">[];
  };
  /** Keys of the local modules that it calls, which may not exist. */
  readonly calls: readonly string[];
  /** Modules that are not local. */
  readonly remoteCalls: readonly ModuleCall[];
  readonly problems: readonly Failure<"input">[];
}

/** Reads the configuration files of a directory as the clients choose them. Throws hostile-input. */
export async function readModule(folder: ConfigurationFolder): Promise<Module> {
  const names = chooseFiles(folder.names, extension);
  const files: DeclaringFile[] = [];
  for (const name of names)
    files.push({
      name,
      ...(await readDeclarations(folder, name, parseConfiguration)),
    });
  return {
    ...(await readCalls(folder, files)),
    hasFiles: names.length > 0,
    isTofu: names.some((name) => /\.tofu(?:\.json)?$/.test(name)),
    requirements: (hostname) => resolve(files, hostname),
  };
}

/**
 * Reads what the test files of a root call, in their `run` blocks: an `init`
 * there installs it too. Other than a module, they require no provider
 * themselves. Throws hostile-input.
 */
export async function readTests(folder: ConfigurationFolder): Promise<Module> {
  const files: FileDeclarations[] = [];
  for (const name of chooseFiles(folder.names, testFile))
    files.push(await readDeclarations(folder, name, parseTestFile));
  return {
    ...(await readCalls(folder, files)),
    hasFiles: files.length > 0,
    isTofu: false,
    requirements: () => ({ requirements: [], problems: [] }),
  };
}

/** Calls lead from the folder itself, also those of files below it. */
async function readCalls(
  folder: ConfigurationFolder,
  files: readonly FileDeclarations[],
): Promise<Pick<Module, "calls" | "remoteCalls" | "problems">> {
  const calls = files.flatMap((file) => file.calls);
  const local = calls.filter(
    ({ source, isExpression }) => isLocalSource(source) && !isExpression,
  );
  return {
    calls: await Promise.all(local.map(({ source }) => folder.locate(source))),
    remoteCalls: calls.filter((call) => !local.includes(call)),
    problems: files.flatMap(({ problems }) => problems),
  };
}

/** What is wrong with a file is among the problems. */
async function readDeclarations(
  folder: ConfigurationFolder,
  name: string,
  parse: typeof parseConfiguration,
): Promise<FileDeclarations> {
  try {
    const text = await folder.read(name);
    return await parse(folder.show(name), text);
  } catch (error) {
    if (!isFailure(error, "input")) throw error;
    return { required: [], implied: [], calls: [], problems: [error] };
  }
}

const extension = /\.(?:tf|tofu)(?:\.json)?$/;
const testFile = /\.(?:tf|tofu)test\.(?:hcl|json)$/;

/** Folder below a root in which clients look for test files, too. */
export const testFolder = "tests";

export function isConfigurationFile(name: string): boolean {
  return extension.test(name);
}

/** Not hidden, not an editor's; of two that differ in `.tf` and `.tofu` only, the latter (OpenTofu, "dirFiles"). */
function chooseFiles(
  names: readonly string[],
  shape: RegExp,
): readonly string[] {
  const present = new Set(names);
  return names
    .filter((name) => shape.test(name) && !basename(name).startsWith("."))
    .filter((name) => {
      const twin = name.replace(/\.tf(\.json|test\.\w+)?$/, ".tofu$1");
      return twin === name || !present.has(twin);
    })
    .toSorted();
}

interface DeclaringFile extends FileDeclarations {
  readonly name: string;
}

/** Entries of override files stand for those of the same local name. */
function resolve(files: readonly DeclaringFile[], hostname: DefaultHostname) {
  const overriding = files.filter(({ name }) => isOverride(name));
  const replaced = new Map(
    overriding.flatMap(({ required }) =>
      required.map((one) => [one.localName, one]),
    ),
  );
  const required = files
    .filter(({ name }) => !isOverride(name))
    .flatMap((file) => file.required)
    .filter(({ localName }) => !replaced.has(localName));
  const all = [...required, ...replaced.values()];
  const sources = new Map(
    all.flatMap(({ localName, source }) =>
      source === undefined ? [] : [[localName, source] as const],
    ),
  );
  const declared = new Set(all.map(({ localName }) => localName));
  const adding = files
    .flatMap((file) => file.implied)
    .filter(({ localName, constraint }) => {
      const isNew = !declared.has(localName);
      declared.add(localName);
      return constraint.length > 0 || isNew;
    });
  return resolveAll([...all, ...adding], sources, hostname);
}

function resolveAll(
  declarations: readonly ProviderDeclaration[],
  sources: ReadonlyMap<string, string>,
  hostname: DefaultHostname,
) {
  const requirements: Requirement[] = [];
  const problems: Failure<"input">[] = [];
  for (const { localName, constraint, where } of declarations)
    try {
      const source = sources.get(localName) ?? `hashicorp/${localName}`;
      const name = withHostname(source.toLowerCase(), hostname);
      if (isBuiltIn(name)) continue;
      const provider = parseProviderAddress(name);
      requirements.push({
        provider,
        name: formatProviderAddress(provider),
        constraint,
        where,
      });
    } catch (error) {
      if (!isFailure(error, "malformed-address")) throw error;
      problems.push(
        failure("input", where, error.sentence, error.remedy, { cause: error }),
      );
    }
  return { requirements, problems };
}

/** One part means `hashicorp/NAME`, two leave out the hostname. */
function withHostname(source: string, hostname: DefaultHostname): string {
  const parts = source.split("/");
  const short = parts.length === 1 ? `hashicorp/${source}` : source;
  const [first = "", ...rest] = parts;
  if (rest.length === 2) return [hostnameAsWritten(first), ...rest].join("/");
  return rest.length > 2 ? source : `${hostname(short)}/${short}`;
}

/** Part of the client itself; as a local name without a source it is `terraform`. */
function isBuiltIn(name: string): boolean {
  return (
    name.startsWith("terraform.io/builtin/") ||
    /^registry\.[a-z]+\.(?:io|org)\/hashicorp\/terraform$/.test(name)
  );
}

function isOverride(name: string): boolean {
  return /^(?:.*_)?override$/.test(basename(name).replace(extension, ""));
}
