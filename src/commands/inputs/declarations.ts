import {
  parseModuleConstraint,
  type VersionConstraint,
  parseVersionConstraint,
} from "../../address/version-constraint.ts";
import { failure, type Failure } from "../../errors/index.ts";
import { noteProblem } from "./input-file.ts";

/** Declaration of a provider in one configuration file. */
export interface ProviderDeclaration {
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
  readonly constraint: VersionConstraint;
  /** Its source or version is known to clients alone. */
  readonly isExpression: boolean;
  /** FILE:LINE. */
  readonly where: string;
}

/** What one configuration file says of providers and modules. */
export interface Declarations {
  /** From required_providers. */
  readonly required: readonly ProviderDeclaration[];
  /** From `provider` blocks, which may have a version, resources and data sources; they name no source. */
  readonly implied: readonly ProviderDeclaration[];
  readonly calls: readonly ModuleCall[];
  readonly problems: readonly Failure<"input">[];
}

/** An object of a configuration file in JSON form (HCL JSON, or native syntax converted to it). */
type Json = Readonly<Record<string, unknown>>;

/** Declarations in one file; the largest that people have are a tenth of it. */
const mostDeclarations = 10_000;

const testFile = /\.(?:tf|tofu)test\.(?:hcl|json)$/;

/** Reads a file that was parsed; `text` is only for line numbers. A test file only calls. */
export function readDeclarations(
  file: string,
  text: string,
  root: unknown,
): Declarations {
  const at = lineFinder(file, text);
  const problems: Failure<"input">[] = [];
  const read = <T>(where: string, one: () => T | undefined): readonly T[] => {
    try {
      const found = one();
      return found === undefined ? [] : [found];
    } catch (error) {
      noteProblem(problems, where, error);
      return [];
    }
  };
  const callsIn = (kind: string, found: Entries) =>
    found.flatMap(([name, body]) => {
      const where = at(name, kind);
      return objects(body).flatMap((block) =>
        read(where, () => readCall(where, name, block)),
      );
    });
  const runs = entriesBelow(root, "run").map(
    ([name, run]) => [name, objects(run).map(({ module }) => module)] as const,
  );
  const calls = [
    ...callsIn("module", entriesBelow(root, "module")),
    ...callsIn("run", runs),
  ];
  const isTest = testFile.test(file);
  const declared = (found: Entries, ...kinds: readonly string[]) =>
    (isTest ? [] : found).flatMap(([name, value]) => {
      const where = at(name, ...kinds);
      return read(where, () => readRequired(where, name, value));
    });
  const blocks = entriesBelow(root, "provider").flatMap(([name, body]) =>
    objects(body).map(({ version }) => [name, { version }] as const),
  );
  const all = {
    required: declared(entriesBelow(root, "terraform", "required_providers")),
    implied: [
      ...declared(blocks, "provider"),
      ...(isTest ? [] : impliedIn(root, at)),
    ],
    ...{ calls, problems },
  };
  const many = `it declares more than ${mostDeclarations} providers and modules`;
  if (Object.values(all).flat().length > mostDeclarations)
    throw failure("input", file, many, "look which file this is");
  return all;
}

type LineFinder = (name: string, ...kinds: readonly string[]) => string;

/** Finds FILE:LINE of a block of one of the kinds by its label, else of an argument by its name. */
export function lineFinder(file: string, text: string): LineFinder {
  const first = new Map<string, number>();
  const named = /^\s*(\w+)\s+"([^"]+)"|(?:^|[{,])\s*"?([\w-]+)"?\s*[=:]/g;
  for (const [index, line] of text.split("\n").entries())
    for (const [, kind = "", label, argument = ""] of line.matchAll(named)) {
      const key = `${kind} ${label ?? argument}`;
      if (!first.has(key)) first.set(key, index + 1);
    }
  return (name, ...kinds) => {
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
  const [entry, ...others] =
    typeof value === "string" ? [{ version: value }] : objects(value);
  const { source = "", version = "" }: Json = entry ?? {};
  const isRead = entry !== undefined && others.length === 0;
  if (!isRead || !isPlain(source) || !isPlain(version)) {
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
): ModuleCall | undefined {
  if (typeof source !== "string") return undefined;
  const isExpression = !isPlain(source) || !isPlain(version);
  const hasNone =
    isExpression || isLocalSource(source) || version.trim() === "";
  const constraint = hasNone ? [] : parseModuleConstraint(version);
  return { name, source, constraint, isExpression, where };
}

/** A resource implies the provider that it names, else the first word of its type; so does the data of a check. */
function impliedIn(
  root: unknown,
  at: LineFinder,
): readonly ProviderDeclaration[] {
  const found = new Map<string, string>();
  const add = (name: string, label: string, kind: string) => {
    if (/^[a-z0-9-]+$/.test(name) && !found.has(name))
      found.set(name, at(label, kind));
  };
  const checks = entriesBelow(root, "check").map(([, body]) => body);
  for (const kind of ["resource", "data", "ephemeral"])
    for (const [type, named] of entriesBelow([root, checks], kind))
      for (const { provider } of entriesBelow(named).flatMap(([, body]) =>
        objects(body),
      )) {
        // `provider = aws.west` arrives as `${aws.west}`.
        const text = typeof provider === "string" ? provider : type;
        const [, name = ""] = /^(?:\$\{)?\s*([a-z0-9-]+)/.exec(text) ?? [];
        add(name, type, kind);
      }
  return [...found].map(([localName, where]) => ({
    ...{ localName, source: undefined, constraint: [], where },
  }));
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
