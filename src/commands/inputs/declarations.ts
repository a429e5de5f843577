import {
  parseModuleConstraint,
  type VersionConstraint,
  parseVersionConstraint,
} from "../../address/version-constraint.ts";
import { failure, type Failure } from "../../errors/index.ts";
import { noteProblem } from "./input-file.ts";

/** An entry of required_providers, or what a block implies. */
export interface ProviderDeclaration {
  /** The name that it has in its module. */
  readonly localName: string;
  /** `[[HOSTNAME/]NAMESPACE/]TYPE`. */
  readonly source: string;
  /** Empty when any version is allowed. */
  readonly constraint: VersionConstraint;
  /** FILE:LINE. */
  readonly where: string;
}

/** A `module` block. */
export interface ModuleCall {
  /** The label of the block. */
  readonly name: string;
  readonly source: string;
  /** Empty when any version is allowed. */
  readonly constraint: VersionConstraint;
  /** Its source or version is known to clients alone. */
  readonly isExpression: boolean;
  /** FILE:LINE. */
  readonly where: string;
}

/** An object of a configuration file in JSON form (HCL JSON, or native syntax converted to it). */
type Json = Readonly<Record<string, unknown>>;
type Entries = readonly (readonly [name: string, value: unknown])[];

/** Declarations in one file; the largest that people have are a tenth of it. */
const mostDeclarations = 10_000;

/** Reads what a configuration file, which was parsed, says of providers and modules; `text` is only for line numbers. */
export function readDeclarations(file: string, text: string, root: unknown) {
  const at = lineFinder(file, text);
  const required: ProviderDeclaration[] = [];
  const calls: ModuleCall[] = [];
  const problems: Failure<"input">[] = [];
  const readEach = (
    entries: Entries,
    kind: string,
    read: (where: string, name: string, value: unknown) => void,
  ) => {
    for (const [name, value] of entries) {
      const where = at(name, kind);
      try {
        read(where, name, value);
      } catch (error) {
        noteProblem(problems, where, error);
      }
    }
  };
  const providers = entriesBelow(root, "terraform", "required_providers");
  readEach(providers, "", (where, name, value) =>
    required.push(readRequired(where, name, value)),
  );
  readEach(entriesBelow(root, "module"), "module", (where, name, body) => {
    for (const block of objects(body))
      if (typeof block.source === "string")
        calls.push(readCall(where, name, block.source, block.version));
  });
  const implied = [...findImplied(root, at)];
  // A block may have a version, which counts beside that of an entry (Terraform, "provider", deprecated).
  readEach(entriesBelow(root, "provider"), "provider", (where, name, body) => {
    for (const { version } of objects(body))
      implied.push(readRequired(where, name, { version }));
  });
  const many = `it declares more than ${mostDeclarations} providers and modules`;
  const found = { required, implied, calls, problems };
  if (Object.values(found).flat().length > mostDeclarations)
    throw failure("input", file, many, "look which file this is");
  return found;
}

/** Finds FILE:LINE of a block of a kind by its label, else of an argument by its name. */
export function lineFinder(file: string, text: string) {
  const first = new Map<string, number>();
  const named = /^\s*(\w+)\s+"([^"]+)"|(?:^|[{,])\s*"?([\w-]+)"?\s*[=:]/g;
  for (const [index, line] of text.split("\n").entries())
    for (const [, kind = "", label, argument = ""] of line.matchAll(named)) {
      const key = `${kind} ${label ?? argument}`;
      if (!first.has(key)) first.set(key, index + 1);
    }
  return (name: string, kind: string): string => {
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
  const constraint =
    version.trim() === "" ? [] : parseVersionConstraint(version);
  return { localName, source: source || localName, constraint, where };
}

/** A local module has no version. */
function readCall(
  where: string,
  name: string,
  source: string,
  version: unknown = "",
): ModuleCall {
  const isExpression = !isPlain(source) || !isPlain(version);
  const hasNone =
    isExpression || isLocalSource(source) || version.trim() === "";
  const constraint = hasNone ? [] : parseModuleConstraint(version);
  return { name, source, constraint, isExpression, where };
}

/** A resource implies the provider that it names, else the first word of its type; so does the data of a check. */
function findImplied(
  root: unknown,
  at: ReturnType<typeof lineFinder>,
): readonly ProviderDeclaration[] {
  const found = new Map<string, string>();
  const checks = entriesBelow(root, "check").flatMap(([, body]) =>
    objects(body),
  );
  for (const kind of ["resource", "data", "ephemeral"])
    for (const [type, named] of entriesBelow([root, ...checks], kind))
      for (const [, body] of entriesBelow(named))
        for (const { provider } of objects(body)) {
          // `provider = aws.west` arrives as `${aws.west}`.
          const text = typeof provider === "string" ? provider : type;
          const [, name] = /^(?:\$\{)?\s*([a-z0-9-]+)/.exec(text) ?? [];
          if (name !== undefined && !found.has(name))
            found.set(name, at(type, kind));
        }
  return Array.from(found, ([localName, where]) => ({
    ...{ localName, source: localName, constraint: [], where },
  }));
}

/** The entries of every object that is reached by the path; each step may be an object or a list of them. */
function entriesBelow(root: unknown, ...path: readonly string[]): Entries {
  let level = objects(root);
  for (const step of path)
    level = level.flatMap((object) => objects(object[step]));
  // A comment in HCL's JSON syntax.
  return level.flatMap(Object.entries).filter(([name]) => name !== "//");
}

function objects(value: unknown): readonly Json[] {
  const isObject = (one: unknown): one is Json =>
    typeof one === "object" && one !== null;
  return [value].flat().filter(isObject);
}

function isPlain(value: unknown): value is string {
  return typeof value === "string" && !/[$%]\{/.test(value);
}

/** True for a module in the same package. */
export function isLocalSource(source: string): boolean {
  return /^\.\.?(?:\/|$)/.test(source);
}
