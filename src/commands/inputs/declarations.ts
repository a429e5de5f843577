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

/** An entry of required_providers. */
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
  /** Source as written. */
  readonly source: string;
  /** Empty when any version is allowed. */
  readonly constraint: ModuleConstraint;
  /** Its source or version is known to clients alone. */
  readonly isExpression: boolean;
  /** FILE:LINE. */
  readonly where: string;
}

/** What one configuration file says of providers and modules. */
export interface Declarations {
  readonly required: readonly ProviderDeclaration[];
  readonly calls: readonly ModuleCall[];
  readonly problems: readonly Failure<"input">[];
}

/** An object of a configuration file in JSON form (HCL JSON, or native syntax converted to it). */
type Json = Readonly<Record<string, unknown>>;

/** Declarations in one file; the largest that people have are a tenth of it. */
const mostDeclarations = 10_000;

/** Reads a file that was parsed; `text` is only for line numbers. */
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
  const providers = entriesBelow(root, "terraform", "required_providers");
  const required = providers.flatMap(([name, value]) => {
    const where = at(name);
    return read(where, () => readRequired(where, name, value));
  });
  const calls = entriesBelow(root, "module").flatMap(([name, body]) => {
    const where = at(name, "module");
    return objects(body).flatMap((block) =>
      read(where, () => readCall(where, block)),
    );
  });
  const many = `it declares more than ${mostDeclarations} providers and modules`;
  if (required.length + calls.length + problems.length > mostDeclarations)
    throw failure("input", file, many, "look which file this is");
  return { required, calls, problems };
}

/** Finds FILE:LINE of a block of the kind by its label, else of an argument by its name. */
export function lineFinder(
  file: string,
  text: string,
): (name: string, kind?: string) => string {
  const first = new Map<string, number>();
  const named = /^\s*(\w+)\s+"([^"]+)"|(?:^|[{,])\s*"?([\w-]+)"?\s*[=:]/g;
  for (const [index, line] of text.split("\n").entries())
    for (const [, kind = "", label, argument = ""] of line.matchAll(named)) {
      const key = `${kind} ${label ?? argument}`;
      if (!first.has(key)) first.set(key, index + 1);
    }
  return (name, kind = "") => {
    const line = first.get(`${kind} ${name}`) ?? first.get(` ${name}`);
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
  { source, version = "" }: Json,
): ModuleCall | undefined {
  if (typeof source !== "string") return undefined;
  const isExpression = !isPlain(source) || !isPlain(version);
  const hasNone =
    isExpression || isLocalSource(source) || version.trim() === "";
  const constraint = hasNone ? [] : parseModuleConstraint(version);
  return { source, constraint, isExpression, where };
}

/** The entries of every object that is reached by the path; each step may be an object or a list of them. */
function entriesBelow(root: unknown, ...path: readonly string[]) {
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
