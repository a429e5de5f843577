import { basename } from "node:path";
import { hostnameAsWritten } from "../../address/hostname.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { VersionConstraint } from "../../address/version-constraint.ts";
import { failure, type Failure } from "../../errors/index.ts";
import { noteProblem } from "./input-file.ts";
import { parseConfiguration } from "./parser.ts";
import {
  isLocalSource,
  type FileDeclarations,
  type ModuleCall,
} from "./required-providers.ts";

/** A provider that a module needs; `where` is FILE:LINE. */
export interface Requirement {
  readonly provider: ProviderAddress;
  /** HOSTNAME/NAMESPACE/TYPE. */
  readonly name: string;
  readonly constraint: VersionConstraint;
  readonly where: string;
}

/** Source of configuration files: the disk, or an archive. */
export interface ConfigurationFolder {
  /** All that is there. */
  readonly names: readonly string[];
  /** Returns the name of a file for messages. */
  show(name: string): string;
  read(name: string): Promise<string>;
  /** Returns one key for a folder that may be reached in several ways and need not exist. */
  locate(path: string): Promise<string>;
}

/** One directory of configuration files, without what it calls. */
export interface Module {
  /** Of the files that were read. */
  readonly names: readonly string[];
  /** Providers, whose `name` may lack its hostname. */
  readonly declared: readonly Omit<Requirement, "provider">[];
  /** Keys of the local modules that it calls, which may not exist. */
  readonly calls: readonly string[];
  /** Modules that are not local. */
  readonly remoteCalls: readonly ModuleCall[];
  readonly problems: readonly Failure<"input">[];
}

const extension = /\.(?:tf|tofu)(?:\.json)?$/;

export function isConfigurationFile(name: string): boolean {
  return extension.test(name);
}

/** Reads the files of a directory that have the shape and that clients choose: its configuration, or its tests. */
export async function readModule(
  folder: ConfigurationFolder,
  shape = extension,
): Promise<Module> {
  const present = new Set(folder.names);
  const names = folder.names
    .filter((name) => shape.test(name) && !basename(name).startsWith("."))
    // Of two that differ in `.tf` and `.tofu` only, the latter (OpenTofu, "dirFiles").
    .filter((name) => {
      const twin = name.replace(/\.tf(\.json|test\.\w+)?$/, ".tofu$1");
      return twin === name || !present.has(twin);
    })
    .toSorted();
  const problems: Failure<"input">[] = [];
  const plain: FileDeclarations[] = [];
  const overriding: FileDeclarations[] = [];
  for (const name of names)
    try {
      const text = await folder.read(name);
      const file = await parseConfiguration(folder.show(name), text);
      const stem = basename(name).replace(extension, "");
      (/^(?:.*_)?override$/.test(stem) ? overriding : plain).push(file);
      problems.push(...file.problems);
    } catch (error) {
      noteProblem(problems, folder.show(name), error);
    }
  const calls = [...plain, ...overriding].flatMap((file) => file.calls);
  const isLocal = (call: ModuleCall) =>
    isLocalSource(call.source) && !call.isExpression;
  const local = calls.filter(isLocal).map(({ source }) => source);
  return {
    names,
    declared: declaredIn(plain, overriding),
    calls: await Promise.all(local.map((source) => folder.locate(source))),
    remoteCalls: calls.filter((call) => !isLocal(call)),
    problems,
  };
}

/** Entries of override files stand for those of the same local name. */
function declaredIn(
  plain: readonly FileDeclarations[],
  overriding: readonly FileDeclarations[],
): Module["declared"] {
  const replaced = new Map(
    overriding
      .flatMap((file) => file.required)
      .map((one) => [one.localName, one]),
  );
  const required = plain
    .flatMap((file) => file.required)
    .filter(({ localName }) => !replaced.has(localName));
  const named = [...required, ...replaced.values()];
  const sources = new Map(
    named.flatMap(({ localName, source }) =>
      source === undefined ? [] : [[localName, source]],
    ),
  );
  const implied = [...plain, ...overriding].flatMap((file) => file.implied);
  return [...named, ...implied].map(({ localName, constraint, where }) => {
    const source = sources.get(localName) ?? localName;
    return { name: source.toLowerCase(), constraint, where };
  });
}

/** Different terms about one provider; a large configuration has ten. */
const mostTerms = 100;

/** Collects what one configuration's modules require, each provider once; clients require all constraints to hold at once. */
export function requireTogether(modules: readonly Module[], registry: string) {
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
  for (const [name, [first, ...others]] of Map.groupBy(
    all,
    (one) => one.name,
  )) {
    if (first === undefined) continue;
    const terms = [first, ...others].flatMap(({ constraint }) => constraint);
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
