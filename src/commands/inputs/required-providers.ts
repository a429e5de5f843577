import {
  parseVersionConstraint,
  type VersionConstraint,
} from "../../address/version-constraint.ts";
import {
  parseModuleConstraint,
  type ModuleConstraint,
} from "../../address/module-constraint.ts";
import { failure, type Failure, isFailure } from "../../errors/index.ts";

/**
 * Declaration of a provider in one configuration file, by the name that it has
 * in its module.
 */
export interface ProviderDeclaration {
  readonly localName: string;
  /** `[HOSTNAME/]NAMESPACE/TYPE` as written; undefined leaves it to the local name. */
  readonly source: string | undefined;
  /** Empty when any version is allowed. */
  readonly constraint: VersionConstraint;
  /** FILE:LINE. */
  readonly where: string;
}

/** A `module` block. */
export interface ModuleCall {
  /** The label of the block. */
  readonly name: string;
  /** Source as written. */
  readonly source: string;
  /** Empty when any version is allowed. */
  readonly constraint: ModuleConstraint;
  /** Its source or version is known to clients alone. */
  readonly isExpression: boolean;
  /** FILE:LINE. */
  readonly where: string;
}

/** Declarations of providers and modules in one configuration file. */
export interface FileDeclarations {
  /** Providers from required_providers. */
  readonly required: readonly ProviderDeclaration[];
  /**
   * Providers from `provider` blocks, resources and data sources, which name no
   * source.
   */
  readonly implied: readonly ProviderDeclaration[];
  readonly calls: readonly ModuleCall[];
  readonly problems: readonly Failure<"input">[];
}

/** An object of a configuration file in JSON form (HCL JSON, or native syntax converted to it). */
type Json = Readonly<Record<string, unknown>>;

/** Declarations in one file; the largest that people have are a tenth of it. */
const mostDeclarations = 10_000;

/** Reads the declarations of a configuration file that was parsed; `text` is only for line numbers. Throws an input error. */
export function readDeclarations(
  file: string,
  text: string,
  root: unknown,
): FileDeclarations {
  const { at, keep, problems } = makeReader(file, text);
  const required = entriesBelow(
    root,
    "terraform",
    "required_providers",
  ).flatMap(([name, value]) =>
    keep(() => readRequired(at(argument(name)), name, value)),
  );
  const configured = entriesBelow(root, "provider").flatMap(([name, value]) =>
    objects(value).flatMap((block) =>
      keep(() => readConfigured(at(label("provider", name)), name, block)),
    ),
  );
  const used = usedNames(root).map((name) => ({
    localName: name,
    source: undefined,
    constraint: [],
    where: at(
      new RegExp(`^\\s*(?:resource|data|ephemeral)?\\b.*\\b${escape(name)}`),
    ),
  }));
  const calls = entriesBelow(root, "module").flatMap(([name, value]) =>
    objects(value).flatMap((block) =>
      keep(() => readCall(at(label("module", name)), name, block)).flat(),
    ),
  );
  const implied = [...configured, ...used];
  return expectFew(file, { required, implied, calls, problems });
}

/** Reads what the `run` blocks of a test file call instead of the configuration beside it. Throws an input error. */
export function readTestCalls(
  file: string,
  text: string,
  root: unknown,
): FileDeclarations {
  const { at, keep, problems } = makeReader(file, text);
  const calls = entriesBelow(root, "run").flatMap(([name, value]) =>
    objects(value)
      .flatMap((run) => objects(run.module))
      .flatMap((block) =>
        keep(() => readCall(at(label("run", name)), name, block)).flat(),
      ),
  );
  return expectFew(file, { required: [], implied: [], calls, problems });
}

function expectFew(file: string, all: FileDeclarations): FileDeclarations {
  if (Object.values(all).flat().length > mostDeclarations)
    throw failure(
      "input",
      file,
      `it declares more than ${mostDeclarations} providers and modules`,
      "look which file this is",
    );
  return all;
}

/** Finds lines of a file, and keeps what is wrong with one declaration from the others. */
function makeReader(file: string, text: string) {
  const problems: Failure<"input">[] = [];
  const lines = text.split("\n");
  const at = (pattern: RegExp) => {
    const index = lines.findIndex((line) => pattern.test(line));
    return index < 0 ? file : `${file}:${index + 1}`;
  };
  const keep = <T>(read: () => T): T[] => {
    try {
      return [read()];
    } catch (error) {
      if (!isFailure(error, "input")) throw error;
      problems.push(error);
      return [];
    }
  };
  return { at, keep, problems };
}

/** `NAME = { source, version }`, or the older `NAME = "CONSTRAINT"`. */
function readRequired(
  where: string,
  localName: string,
  value: unknown,
): ProviderDeclaration {
  if (typeof value === "string")
    return {
      localName,
      source: undefined,
      constraint: readConstraint(
        where,
        localName,
        value,
        parseVersionConstraint,
      ),
      where,
    };
  const [entry, ...others] = objects(value);
  if (entry === undefined || others.length > 0)
    throw failure(
      "input",
      where,
      `${localName} of required_providers is neither an object nor a version constraint`,
      "write one of the two",
    );
  const { source, version } = entry;
  if (source !== undefined && !isPlain(source))
    throw failure(
      "input",
      where,
      `The source of ${localName} is not a plain string`,
      "write it without expressions",
    );
  return {
    localName,
    source,
    constraint: readConstraint(
      where,
      localName,
      version,
      parseVersionConstraint,
    ),
    where,
  };
}

/** A local module has no version. */
function readCall(
  where: string,
  name: string,
  { source, version }: Json,
): readonly ModuleCall[] {
  if (typeof source !== "string") return [];
  const isExpression =
    !isPlain(source) || (version !== undefined && !isPlain(version));
  const constraint =
    isExpression || isLocalSource(source)
      ? []
      : readConstraint(where, name, version, parseModuleConstraint);
  return [{ name, source, constraint, isExpression, where }];
}

/** A `provider` block may hold a version, as before Terraform 0.13. */
function readConfigured(
  where: string,
  localName: string,
  { version }: Json,
): ProviderDeclaration {
  const constraint = isPlain(version)
    ? readConstraint(where, localName, version, parseVersionConstraint)
    : [];
  return { localName, source: undefined, constraint, where };
}

function readConstraint<Constraint>(
  where: string,
  name: string,
  text: unknown,
  parse: (text: string) => Constraint,
): Constraint | readonly [] {
  if (text === undefined) return [];
  if (!isPlain(text))
    throw failure(
      "input",
      where,
      `The version of ${name} is not a plain string`,
      "write it without expressions",
    );
  try {
    return text.trim() === "" ? [] : parse(text);
  } catch (error) {
    if (!isFailure(error, "malformed-address")) throw error;
    throw failure("input", where, `${name}: ${error.sentence}`, error.remedy, {
      cause: error,
    });
  }
}

/** Resources belong to the provider that they name, else to the first word of their type. */
function usedNames(root: unknown): readonly string[] {
  const kinds = [
    entriesBelow(root, "resource"),
    entriesBelow(root, "data"),
    entriesBelow(root, "ephemeral"),
    ...entriesBelow(root, "check").map(([, block]) =>
      entriesBelow(block, "data"),
    ),
  ];
  const named = kinds.flat().flatMap(([type, value]) =>
    objects(value)
      .flatMap((byName) => Object.values(byName))
      .flatMap(objects)
      .map(({ provider }) => providerOf(type, provider)),
  );
  const imported = objects(root)
    .flatMap((object) => objects(object.import))
    .map(({ to, provider }) => providerOf(typeImported(to), provider));
  const names = [...named, ...imported];
  return [...new Set(names)].filter((name) => /^[a-z0-9-]+$/.test(name));
}

/** `to = module.a["b"].aws_vpc.main` arrives as `${module.a["b"].aws_vpc.main}`. */
function typeImported(to: unknown): string {
  const inModules = /^(?:\$\{)?(?:module\.[\w-]+(?:\[[^\]]*\])?\.)*([\w-]+)\./;
  const [, type = ""] =
    typeof to === "string" ? (inModules.exec(to) ?? []) : [];
  return type;
}

/** `provider = aws.west` arrives as `${aws.west}`. */
function providerOf(type: string, provider: unknown): string {
  const named =
    typeof provider === "string"
      ? /^(?:\$\{)?\s*([\w-]+)/.exec(provider)?.[1]
      : undefined;
  return named ?? type.split("_")[0] ?? "";
}

/** The entries of every object that is reached by the path; each step may be an object or a list of them. */
function entriesBelow(
  root: unknown,
  ...path: readonly string[]
): readonly (readonly [string, unknown])[] {
  let level = objects(root);
  for (const step of path)
    level = level.flatMap((object) => objects(object[step]));
  // A comment in HCL's JSON syntax.
  return level.flatMap((object) =>
    Object.entries(object).filter(([name]) => name !== "//"),
  );
}

function objects(value: unknown): readonly Json[] {
  if (Array.isArray(value)) return value.flatMap(objects);
  return typeof value === "object" && value !== null ? [value as Json] : [];
}

function isPlain(value: unknown): value is string {
  return typeof value === "string" && !/[$%]\{/.test(value);
}

/** True for a module in the same package. */
export function isLocalSource(source: string): boolean {
  return /^\.\.?(?:\/|$)/.test(source);
}

function argument(name: string): RegExp {
  return new RegExp(`^\\s*(?:.*[{,]\\s*)?"?${escape(name)}"?\\s*[=:]`);
}

function label(type: string, name: string): RegExp {
  return new RegExp(
    `^\\s*"?${type}"?\\s+"?${escape(name)}\\b|"${escape(name)}"`,
  );
}

function escape(text: string): string {
  return text.replace(/[^\w-]/g, "\\$&");
}
