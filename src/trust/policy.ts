import semver from "semver";
import type { ModuleAddress } from "../address/module-address.ts";
import {
  isMatch,
  isOfModules,
  type Pattern,
} from "../address/policy-pattern.ts";
import type { ProviderAddress } from "../address/provider-address.ts";
import {
  isAllowed,
  type VersionConstraint,
} from "../address/version-constraint.ts";
import { isPrerelease, type Version } from "../address/version.ts";

/** `policy` of the configuration; ages in milliseconds, `minimumAge` of providers. */
export interface PolicySettings {
  readonly default: "allow" | "deny";
  readonly minimumAge: number;
  /** Where people who are refused may ask. */
  readonly contact?: string | undefined;
  readonly rules: readonly {
    readonly match: Pattern;
    readonly action: "allow" | "deny";
    readonly versions?: VersionConstraint | undefined;
    readonly minimumAge?: number | undefined;
    /** The operator's reason, for people who are refused. */
    readonly because?: string | undefined;
  }[];
}

/** The rules, ready to be asked. */
export interface Policy {
  readonly rules: readonly PolicyRule[];
  /** Decision on providers and versions that no rule decides. */
  readonly otherwise: PolicyDecision;
}

interface PolicyRule extends PolicyDecision {
  readonly pattern: Pattern;
  readonly versions: VersionConstraint | undefined;
}

export interface PolicyDecision {
  readonly action: "allow" | "deny";
  /** The key of the configuration that decided, such as `policy.rules[2]` or `policy.default`. */
  readonly rule: string;
  /** Milliseconds. */
  readonly minimumAge: number;
  /** The key that set the minimum age, such as `policy.minimumAge`. */
  readonly minimumAgeRule: string;
  /** The operator's own words for people who are refused. */
  readonly guidance: {
    readonly because: string | undefined;
    readonly contact: string | undefined;
  };
}

export function parsePolicy(settings: PolicySettings): Policy {
  const { contact, minimumAge } = settings;
  const minimumAgeRule = "policy.minimumAge";
  return {
    rules: settings.rules.map((written, index) => {
      const { match: pattern, action, versions, because } = written;
      const rule = `policy.rules[${index}]`;
      const inherited = isOfModules(pattern) ? 0 : minimumAge;
      const hasOwn = written.minimumAge !== undefined;
      return {
        ...{ pattern, action, versions, rule },
        minimumAge: written.minimumAge ?? inherited,
        minimumAgeRule: hasOwn ? `${rule}.minimumAge` : minimumAgeRule,
        guidance: { because, contact },
      };
    }),
    otherwise: {
      action: settings.default,
      rule: "policy.default",
      ...{ minimumAge, minimumAgeRule },
      guidance: { because: undefined, contact },
    },
  };
}

/**
 * The first rule that decides wins. Rules fail closed: one that denies also denies the prereleases in its range; one that allows lets in
 * only those that it names, and its minimum age holds for the others, too, whichever rule allows them.
 */
export function decideByRules(
  policy: Policy,
  provider: ProviderAddress | ModuleAddress,
  version: Version,
): PolicyDecision {
  let oldest: PolicyDecision | undefined;
  for (const rule of policy.rules) {
    const { pattern, versions, action } = rule;
    if (!isMatch(pattern, provider)) continue;
    if (versions && !isCovered(versions, version)) continue;
    const decision = withMinimumAge(rule, oldest);
    const isWhole = action === "deny" || versions === undefined;
    if (isWhole || isAdmitted(versions, version)) return decision;
    oldest = decision;
  }
  const { otherwise } = policy;
  // Most registries say nothing of when modules were published: only a rule that names modules gives them an age.
  const last =
    "system" in provider ? { ...otherwise, minimumAge: 0 } : otherwise;
  return withMinimumAge(last, oldest);
}

/** The decision that denies every version of the provider; undefined when some version could be allowed. */
export function findProviderDenial(
  policy: Policy,
  provider: ProviderAddress | ModuleAddress,
): PolicyDecision | undefined {
  const decisive = policy.rules.find(
    ({ pattern, action, versions }) =>
      isMatch(pattern, provider) &&
      (action === "allow" || versions === undefined),
  );
  const decision = decisive ?? policy.otherwise;
  return decision.action === "deny" ? decision : undefined;
}

function withMinimumAge(
  decision: PolicyDecision,
  other: PolicyDecision | undefined,
): PolicyDecision {
  if (other === undefined || other.minimumAge <= decision.minimumAge)
    return decision;
  const { minimumAge, minimumAgeRule } = other;
  return { ...decision, minimumAge, minimumAgeRule };
}

/**
 * Terraform's reading, for rules that let something in, with one thing less: `!= 1.5.0` keeps out `1.5.0+build` too.
 */
function isAdmitted(constraint: VersionConstraint, version: Version): boolean {
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
function isCovered(constraint: VersionConstraint, version: Version): boolean {
  const { major, minor, patch } = new semver.SemVer(version);
  const release = `${major}.${minor}.${patch}` as Version;
  return constraint.every((term) => {
    const { operator, boundary } = term;
    if (holds(term, version)) return true;
    if (operator === "!=") return false;
    if (operator === "=") return isSameRelease(boundary, version);
    // A boundary that is a prerelease itself was meant exactly.
    return !isPrerelease(boundary) && holds(term, release);
  });
}

/** The comparison alone: a term that names the version lifts the rule that prereleases have to be named. */
function holds(term: VersionConstraint[number], version: Version): boolean {
  return isAllowed([term, { operator: "=", boundary: version }], version);
}

/** Equal but for build metadata, unless the boundary names some. */
function isSameRelease(boundary: Version, version: Version): boolean {
  return !boundary.includes("+") && semver.eq(boundary, version);
}
