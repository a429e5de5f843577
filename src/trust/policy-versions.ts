import semver from "semver";
import type { Version } from "../address/version.ts";
import {
  isAllowed,
  isPrerelease,
  type VersionConstraint,
} from "../address/version-constraint.ts";

type Term = VersionConstraint[number];

/**
 * Terraform's reading, for rules that let something in, with one thing less: `!= 1.5.0` keeps out `1.5.0+build` too.
 */
export function isAdmitted(
  constraint: VersionConstraint,
  version: Version,
): boolean {
  return (
    isAllowed(constraint, version) &&
    !constraint.some(
      ({ operator, boundary }) =>
        operator === "!=" && isSameRelease(boundary, version),
    )
  );
}

/**
 * The wide reading, for rules that keep something out. Terraform's lets ranges pass over prereleases and equality over build metadata, so
 * that `deny >= 3.0` would let 3.1.0-beta1 in. Here a range holds for a prerelease when it holds for it or for the release that it leads
 * to, and `1.5.0` is also `1.5.0+build`. Everything admitted is covered.
 */
export function isCovered(
  constraint: VersionConstraint,
  version: Version,
): boolean {
  return constraint.every((term) => isCoveredBy(term, version));
}

function isCoveredBy(term: Term, version: Version): boolean {
  const { operator, boundary } = term;
  if (holds(term, version)) return true;
  if (operator === "!=") return false;
  if (operator === "=") return isSameRelease(boundary, version);
  // A boundary that is a prerelease itself was meant exactly.
  return !isPrerelease(boundary) && holds(term, releaseOf(version));
}

/** The comparison alone: a term that names the version lifts the rule that prereleases have to be named. */
function holds(term: Term, version: Version): boolean {
  return isAllowed([term, { operator: "=", boundary: version }], version);
}

/** Equal but for build metadata, unless the boundary names some. */
function isSameRelease(boundary: Version, version: Version): boolean {
  return !boundary.includes("+") && semver.eq(boundary, version);
}

function releaseOf(version: Version): Version {
  const { major, minor, patch } = new semver.SemVer(version);
  return `${major}.${minor}.${patch}` as Version;
}
