import semver from "semver";
import { failure } from "../errors/index.ts";
import { isVersion, type Version } from "./version.ts";

/** One comparison of a module's version, whose boundary may be no semantic version. */
interface ModuleTerm {
  readonly operator: "=" | "!=" | ">" | ">=" | "<" | "<=" | "~>";
  /** The boundary as it is written. */
  readonly text: string;
  /** At least three. */
  readonly numbers: readonly number[];
  /** Numbers that are written. */
  readonly count: number;
  /** Empty for a release. */
  readonly prerelease: string;
}

/** Terms that all have to hold; none allow every release. */
export type ModuleConstraint = readonly ModuleTerm[];

/** No configuration has a tenth of it. */
const mostTerms = 100;

/** go-version's "VersionRegexpRaw" behind an operator. */
const shape =
  /^[\t\n\f\r ]*(=|!=|>=?|<=?|~>)?[\t\n\f\r ]*(v?(\d{1,19}(?:\.\d{1,19})*)(?:-(\d[\dA-Za-z~-]*(?:\.[\dA-Za-z~-]+)*)|-?([A-Za-z~-][\dA-Za-z~-]*(?:\.[\dA-Za-z~-]+)*))?(?:\+[\dA-Za-z~-]+(?:\.[\dA-Za-z~-]+)*)?)[\t\n\f\r ]*$/;

/**
 * The `version` of a `module` block, which has another grammar than that of a provider: any count of numbers, a `v`,
 * any blanks (go-version, "NewConstraint").
 */
export function parseModuleConstraint(text: string): ModuleConstraint {
  const parts = text.split(",", mostTerms + 1);
  const terms = parts.flatMap((part) => parseTerm(part) ?? []);
  if (terms.length === parts.length && parts.length <= mostTerms) return terms;
  throw failure(
    "malformed-address",
    "version constraint",
    text,
    'terms such as "~> 1.2", ">= 1.2.3" or "1.2.3", separated by commas',
  );
}

/** Terms as they are written. */
export function formatModuleConstraint(constraint: ModuleConstraint): string {
  return constraint
    .map(({ operator, text }) =>
      operator === "=" ? text : `${operator} ${text}`,
    )
    .join(", ");
}

/**
 * A prerelease is allowed only when a term names exactly it, in a form that
 * the second parser reads that clients ask about prereleases (go-versions,
 * "MeetingConstraintsString").
 */
export function isAllowedForModule(
  constraint: ModuleConstraint,
  version: Version,
): boolean {
  const isRelease = new semver.SemVer(version).prerelease.length === 0;
  return (
    constraint.every((term) => holds(term, version)) &&
    (isRelease ||
      (constraint.some(({ operator }) => operator === "=") &&
        constraint.every(({ text }) => !text.startsWith("v"))))
  );
}

function parseTerm(part: string): ModuleTerm | undefined {
  const match = shape.exec(part);
  if (!match) return undefined;
  const [, operator = "=", text = "", written = "", digitFirst, other] = match;
  const numbers = written.split(".").map(Number);
  const count = numbers.length;
  while (numbers.length < 3) numbers.push(0);
  return {
    operator: operator as ModuleTerm["operator"],
    text,
    numbers,
    count,
    prerelease: other ?? digitFirst ?? "",
  };
}

/** Build metadata counts nowhere; a boundary that is a prerelease has bounds for prereleases of its own numbers only (go-version, "Constraint.Check"). */
function holds(term: ModuleTerm, version: Version): boolean {
  const { major, minor, patch, prerelease } = new semver.SemVer(version);
  const numbers = [major, minor, patch];
  const pre = prerelease.join(".");
  const byNumbers = compareNumbers(numbers, term.numbers);
  // go-version compares no prereleases of other counts of numbers.
  const order =
    byNumbers ||
    (term.numbers.length > numbers.length
      ? 0
      : comparePrereleases(pre, term.prerelease));
  const isComparable =
    pre === "" || (term.prerelease !== "" && byNumbers === 0);
  switch (term.operator) {
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
    case ">":
      return isComparable && order > 0;
    case ">=":
      return isComparable && order >= 0;
    case "<":
      return isComparable && order < 0;
    case "<=":
      return isComparable && order <= 0;
    case "~>":
      return (
        isComparable &&
        order >= 0 &&
        (pre !== "" || term.prerelease === "") &&
        isPessimistic(term, numbers)
      );
  }
}

/** All but the last written number stay; `~> 1` is only a lower bound (go-version, "constraintPessimistic"). */
function isPessimistic(
  { numbers: bound, count }: ModuleTerm,
  numbers: readonly number[],
): boolean {
  const kept = bound.slice(0, count - 1);
  const [last = 0] = bound.slice(-1);
  return (
    bound.length <= numbers.length &&
    kept.every((number, at) => number === numbers[at]) &&
    last <= (numbers[bound.length - 1] ?? 0)
  );
}

/** Missing numbers are zero. */
function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function comparePrereleases(a: string, b: string): number {
  if (a === b) return 0;
  if (a === "" || b === "") return a === "" ? 1 : -1;
  const [one, other] = [`0.0.0-${a}`, `0.0.0-${b}`];
  if (isVersion(one) && isVersion(other)) return semver.compare(one, other);
  return a < b ? -1 : 1;
}
