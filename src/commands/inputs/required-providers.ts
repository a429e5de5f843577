import {
  parseModuleConstraint,
  type ModuleConstraint,
} from "../../address/module-constraint.ts";
import {
  parseVersionConstraint,
  type VersionConstraint,
} from "../../address/version-constraint.ts";
import { failure, type Failure } from "../../errors/index.ts";
import { noteProblem } from "./input-file.ts";

/** Declaration of a provider in one configuration file. */
interface ProviderDeclaration {
  /** The name that it has in its module. */
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
  /** Providers from `provider` blocks, resources and data sources, which name no source. */
  readonly implied: readonly ProviderDeclaration[];
  readonly calls: readonly ModuleCall[];
  readonly problems: readonly Failure<"input">[];
}

/** An object of a configuration file in JSON form (HCL JSON, or native syntax converted to it). */
type Json = Readonly<Record<string, unknown>>;

/** Declarations in one file; the largest that people have are a tenth of it. */
const mostDeclarations = 10_000;

export const testFile = /\.(?:tf|tofu)test\.(?:hcl|json)$/;

/** Reads the declarations of a file that was parsed; `text` is only for line numbers. A test file only calls. */
export function readDeclarations(
  file: string,
  text: string,
  root: unknown,
): FileDeclarations {
  const problems: Failure<"input">[] = [];
  const at = lineFinder(file, text);
  const keep = <T>(where: string, read: () => T): T[] => {
    try {
      return [read()];
    } catch (error) {
      noteProblem(problems, where, error);
      return [];
    }
  };
  const readAll = (
    found: Entries,
    kind: string,
    of = (one: Json): readonly Json[] => [one],
  ) =>
    found.flatMap(([name, value]) =>
      objects(value)
        .flatMap(of)
        .map((block) => ({ name, block, where: at(name, kind) })),
    );
  const runs = readAll(entriesBelow(root, "run"), "run", ({ module }) =>
    objects(module),
  );
  const blocks = readAll(entriesBelow(root, "module"), "module");
  const calls = [...blocks, ...runs].flatMap(({ name, block, where }) =>
    keep(where, () => readCall(where, name, block)).flat(),
  );
  if (testFile.test(file))
    return expectFew(file, { required: [], implied: [], calls, problems });
  const required = entriesBelow(root, "terraform", "required_providers");
  const configured = readAll(entriesBelow(root, "provider"), "provider");
  const all = {
    required: required.flatMap(([name, value]) => {
      const where = at(name);
      return keep(where, () => readRequired(where, name, value));
    }),
    implied: [
      // A version as before Terraform 0.13.
      ...configured.flatMap(({ name, block: { version }, where }) =>
        keep(where, () =>
          readRequired(where, name, isPlain(version) ? { version } : {}),
        ),
      ),
      ...[...usedTypes(root)].map(([name, type]) => ({
        ...{ localName: name, source: undefined, constraint: [] },
        where: at(type, "resource", "data", "ephemeral"),
      })),
    ],
  };
  return expectFew(file, { ...all, calls, problems });
}

function expectFew(file: string, all: FileDeclarations): FileDeclarations {
  const problem = `it declares more than ${mostDeclarations} providers and modules`;
  if (Object.values(all).flat().length > mostDeclarations)
    throw failure("input", file, problem, "look which file this is");
  return all;
}

/** Finds FILE:LINE of a block of one of the kinds by its label, else of an argument by its name. */
export function lineFinder(file: string, text: string) {
  const first = new Map<string, number>();
  const named = /^\s*(\w+)\s+"([^"]+)"|(?:^|[{,])\s*"?([\w-]+)"?\s*[=:]/g;
  for (const [index, line] of text.split("\n").entries())
    for (const [, kind = "", label, argument = ""] of line.matchAll(named)) {
      const key = `${kind} ${label ?? argument}`;
      if (!first.has(key)) first.set(key, index + 1);
    }
  return (name: string, ...kinds: readonly string[]): string => {
    const [line] = [...kinds, ""].flatMap(
      (kind) => first.get(`${kind} ${name}`) ?? [],
    );
    return line === undefined ? file : `${file}:${line}`;
  };
}

/** `NAME = { source, version }`, or the older `NAME = "CONSTRAINT"`. */
function readRequired(
  where: string,
  localName: string,
  value: unknown,
): ProviderDeclaration {
  const [entry = {}, ...others] =
    typeof value === "string" ? [{ version: value }] : objects(value);
  const { source = "", version = "" }: Json = entry;
  const isRead = typeof value === "string" || objects(value).length > 0;
  if (!isRead || others.length > 0 || !isPlain(source) || !isPlain(version)) {
    const problem = `${localName} has no plain strings for its source and version`;
    throw failure("input", where, problem, "write them without expressions");
  }
  return {
    localName,
    source: source === "" ? undefined : source,
    constraint: version.trim() === "" ? [] : parseVersionConstraint(version),
    where,
  };
}

/** A local module has no version. */
function readCall(
  where: string,
  name: string,
  { source, version = "" }: Json,
): readonly ModuleCall[] {
  if (typeof source !== "string") return [];
  const isExpression = !isPlain(source) || !isPlain(version);
  const hasNone =
    isExpression || isLocalSource(source) || version.trim() === "";
  const constraint = hasNone ? [] : parseModuleConstraint(version);
  return [{ name, source, constraint, isExpression, where }];
}

/** Resources belong to the provider that they name, else to the first word of their type; each once, with a type. */
function usedTypes(root: unknown): ReadonlyMap<string, string> {
  const kinds = [
    ...["resource", "data", "ephemeral"].map((kind) =>
      entriesBelow(root, kind),
    ),
    ...entriesBelow(root, "check").map(([, one]) => entriesBelow(one, "data")),
  ];
  const blocks = kinds.flat().flatMap(([type, value]) =>
    objects(value)
      .flatMap(Object.values)
      .flatMap(objects)
      .map(({ provider }) => ({ type, provider })),
  );
  const imports = objects(root)
    .flatMap((object) => objects(object.import))
    .map(({ to, provider }) => ({ type: typeImported(to), provider }));
  const used = new Map<string, string>();
  for (const { type, provider } of [...blocks, ...imports]) {
    const name = providerOf(type, provider);
    if (/^[a-z0-9-]+$/.test(name) && !used.has(name)) used.set(name, type);
  }
  return used;
}

/** `to = module.a["b"].aws_vpc.main` arrives as `${module.a["b"].aws_vpc.main}`. */
function typeImported(to: unknown): string {
  const inModules = /^(?:\$\{)?(?:module\.[\w-]+(?:\[[^\]]*\])?\.)*([\w-]+)\./;
  const text = typeof to === "string" ? to : "";
  return inModules.exec(text)?.[1] ?? "";
}

/** `provider = aws.west` arrives as `${aws.west}`. */
function providerOf(type: string, provider: unknown): string {
  const text = typeof provider === "string" ? provider : "";
  const [, named] = /^(?:\$\{)?\s*([\w-]+)/.exec(text) ?? [];
  return named ?? type.replace(/_.*/s, "");
}

type Entries = readonly (readonly [string, unknown])[];

/** The entries of every object that is reached by the path; each step may be an object or a list of them. */
function entriesBelow(root: unknown, ...path: readonly string[]): Entries {
  let level = objects(root);
  for (const step of path)
    level = level.flatMap((object) => objects(object[step]));
  // A comment in HCL's JSON syntax.
  return level.flatMap(Object.entries).filter(([name]) => name !== "//");
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
