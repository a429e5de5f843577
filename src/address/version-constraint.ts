import semver from "semver";
import { failure } from "../errors/index.ts";
import { compareVersions, isVersion, type Version } from "./version.ts";

const operators = [">", ">=", "=", "~>", "<=", "<", "!="] as const;

/** One comparison; missing numbers of its boundary are zero. */
interface VersionTerm {
  readonly operator: (typeof operators)[number];
  readonly boundary: Version;
  /** First release that is too new for `~>`. */
  readonly below?: Version;
}

/** No configuration has a tenth of it. */
const mostTerms = 100;

/** Terms that all have to hold, in Terraform's language. */
export type VersionConstraint = readonly VersionTerm[];

/**
 * `~> 5.0`, `>= 1.2, < 2.0, != 1.5.0`, `5.1.0`: what both parsers that Terraform applies accept (go-version on the
 * configuration, then go-versions' ParseRubyStyleMulti).
 */
export function parseVersionConstraint(text: string): VersionConstraint {
  const parts = text.split(",", mostTerms + 1);
  return parts.map((part, at) => {
    const term = parseTerm(part.trim());
    if (term && at < mostTerms) return term;
    throw failure(
      "malformed-address",
      "version constraint",
      text,
      'terms such as "~> 1.2", ">= 1.2.3" or "1.2.3", separated by commas, without a "v" before the version',
    );
  });
}

/**
 * The `version` of a `module` block, which clients read more freely (go-version, "NewConstraint"): with a `v`, any
 * blanks, and with `~> 1` as a lower bound alone.
 */
export function parseModuleConstraint(text: string): VersionConstraint {
  const plain = text.split(",").map((part) => {
    const [, operator = "", version = ""] =
      /^\s*([!=<>~]*)\s*v?(.*?)\s*$/s.exec(part) ?? [];
    const isBound = operator === "~>" && /^\d+$/.test(version);
    return `${isBound ? ">=" : operator}${version}`;
  });
  return parseVersionConstraint(plain.join());
}

/** The canonical form that dependency lock files hold: whole versions, sorted by boundary, nothing twice. */
export function formatVersionConstraint(constraint: VersionConstraint): string {
  const terms = constraint.toSorted(
    (a, b) =>
      compareVersions(a.boundary, b.boundary) || orderOf(a) - orderOf(b),
  );
  return [...new Set(terms.map(formatTerm))].join(", ");
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

export function isPrerelease(version: Version): boolean {
  return /^[^+]*-/.test(version);
}

function parseTerm(text: string): VersionTerm | undefined {
  const match =
    /^(?:(=|!=|>=?|<=?|~>) ?)?(\d+)(?:\.(\d+))?(?:\.(\d+))?((?:-[\dA-Za-z.-]+)?(?:\+[\dA-Za-z.-]+)?)$/.exec(
      text,
    );
  if (!match) return undefined;
  const [, operator, major = "", minor, patch, suffix = ""] = match;
  const numbers = [major, minor ?? "0", patch ?? "0"].map(Number);
  const boundary = `${numbers.join(".")}${suffix}`;
  if (!isVersion(boundary)) return undefined;
  if (operator !== "~>") return { operator: operatorOf(operator), boundary };
  const below = tooNew(boundary, patch !== undefined);
  return isVersion(below) ? { operator, boundary, below } : undefined;
}

function operatorOf(text: string | undefined): VersionTerm["operator"] {
  return operators.find((operator) => operator === text) ?? "=";
}

/** `~> 1.2` and `~> 1` end before 2.0.0, `~> 1.2.3` before 1.3.0. */
function tooNew(boundary: Version, withPatch: boolean): string {
  const { major, minor } = new semver.SemVer(boundary);
  return withPatch ? `${major}.${minor + 1}.0` : `${major + 1}.0.0`;
}

/** Build metadata counts only where one version is named: `1.2.3` is not `1.2.3+build`, but `>= 1.2.3` allows it. */
function holds(term: VersionTerm, version: Version): boolean {
  const { operator, boundary, below } = term;
  const order = semver.compare(version, boundary);
  switch (operator) {
    case "=":
      return version === boundary;
    case "!=":
      return version !== boundary;
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
