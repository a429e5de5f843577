import semver from "semver";
import { failure } from "../errors/index.ts";
import {
  compareVersions,
  isPrerelease,
  isVersion,
  type Version,
} from "./version.ts";

const operators = [">", ">=", "=", "~>", "<=", "<", "!="] as const;

/** One comparison; missing numbers of its boundary are zero. */
interface VersionTerm {
  readonly operator: (typeof operators)[number];
  readonly boundary: Version;
  /** First release that is too new for `~>`. */
  readonly below?: Version;
  /** Of a module, `1.2.3` is `1.2.3+build` too. */
  readonly anyBuild?: boolean;
}

/** Terms that all have to hold, in Terraform's language; none allow every release. */
export type VersionConstraint = readonly VersionTerm[];

/** No configuration has a tenth of it. */
const mostTerms = 100;

const example =
  'terms such as "~> 1.2", ">= 1.2.3" or "1.2.3", separated by commas';

/**
 * `~> 5.0`, `>= 1.2, < 2.0, != 1.5.0`, `5.1.0`: what both parsers that Terraform applies accept (go-version on the
 * configuration, then go-versions' ParseRubyStyleMulti).
 */
export function parseVersionConstraint(text: string): VersionConstraint {
  const expected = `${example}, without a "v" before the version`;
  return parseTerms(text, expected, (part) => parseTerm(part.trim()));
}

/**
 * The `version` of a `module` block, which go-version alone reads: a `v` may be there and any blanks, `~> 1` is only a
 * lower bound, and build metadata counts nowhere (go-version, "constraintPessimistic" and "Constraint.Check").
 */
export function parseModuleConstraint(text: string): VersionConstraint {
  return parseTerms(text, example, (part) => {
    const [, operator = "", version = ""] =
      /^([=!<>~]*)\s*v?(\S*)$/.exec(part.trim()) ?? [];
    const isLowerBound = operator === "~>" && /^\d+$/.test(version);
    const term = parseTerm(`${isLowerBound ? ">=" : operator}${version}`);
    if (term === undefined) return undefined;
    const boundary = term.boundary.replace(/\+.*/, "") as Version;
    return { ...term, boundary, anyBuild: true };
  });
}

function parseTerms(
  text: string,
  expected: string,
  parse: (part: string) => VersionTerm | undefined,
): VersionConstraint {
  const parts = text.split(",", mostTerms + 1);
  const terms = parts.flatMap((part) => parse(part) ?? []);
  if (terms.length === parts.length && parts.length <= mostTerms) return terms;
  throw failure("malformed-address", "version constraint", text, expected);
}

function parseTerm(text: string): VersionTerm | undefined {
  const match =
    /^(?:(=|!=|>=?|<=?|~>) ?)?(\d+)(?:\.(\d+))?(?:\.(\d+))?((?:-[\dA-Za-z.-]+)?(?:\+[\dA-Za-z.-]+)?)$/.exec(
      text,
    );
  if (!match) return undefined;
  const [, written = "=", major = "", minor, patch, suffix = ""] = match;
  const operator = written as VersionTerm["operator"];
  const numbers = [major, minor ?? "0", patch ?? "0"].map(Number);
  const boundary = `${numbers.join(".")}${suffix}`;
  if (!isVersion(boundary)) return undefined;
  if (operator !== "~>") return { operator, boundary };
  // `~> 1.2` and `~> 1` end before 2.0.0, `~> 1.2.3` before 1.3.0.
  const [one = 0, two = 0] = numbers;
  const below = patch === undefined ? `${one + 1}.0.0` : `${one}.${two + 1}.0`;
  return isVersion(below) ? { operator, boundary, below } : undefined;
}

/** The canonical form that dependency lock files hold: whole versions, sorted by boundary, nothing twice. */
export function formatVersionConstraint(constraint: VersionConstraint): string {
  const terms = constraint.toSorted(
    (a, b) =>
      compareVersions(a.boundary, b.boundary) || orderOf(a) - orderOf(b),
  );
  return [...new Set(terms.map(formatTerm))].join(", ");
}

function formatTerm(term: VersionTerm): string {
  const { operator, boundary } = term;
  if (operator === "=") return boundary;
  return `${operator} ${isWithoutPatch(term) ? boundary.replace(/^(\d+\.\d+)\.\d+/, "$1") : boundary}`;
}

function isWithoutPatch({ boundary, below }: VersionTerm): boolean {
  return below !== undefined && semver.major(below) !== semver.major(boundary);
}

/** The order of terms with one boundary, as lock files have it; `~> 1.2.0` stands before `~> 1.2`. */
function orderOf(term: VersionTerm): number {
  return operators.indexOf(term.operator) + (isWithoutPatch(term) ? 0.5 : 0);
}

/** A prerelease is allowed only when a term names exactly it. */
export function isAllowed(
  constraint: VersionConstraint,
  version: Version,
): boolean {
  return (
    constraint.every((term) => holds(term, version)) &&
    (!isPrerelease(version) || constraint.some((t) => t.operator === "="))
  );
}

/** Build metadata counts only where one version is named: `1.2.3` is not `1.2.3+build`, but `>= 1.2.3` allows it. */
function holds(term: VersionTerm, version: Version): boolean {
  const { operator, boundary, below, anyBuild = false } = term;
  const order = semver.compare(version, boundary);
  switch (operator) {
    case "=":
      return anyBuild ? order === 0 : version === boundary;
    case "!=":
      return anyBuild ? order !== 0 : version !== boundary;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case "~>":
      return order >= 0 && below !== undefined && semver.lt(version, below);
  }
}
