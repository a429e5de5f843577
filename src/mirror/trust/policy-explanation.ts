import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { formatVersionConstraint } from "../../address/version-constraint.ts";
import type { Version } from "../../address/version.ts";
import { isMatch } from "../../address/policy-pattern.ts";
import { formatDuration } from "../../address/units.ts";
import {
  decideByRules,
  findProviderDenial,
  readRule,
  type Policy,
  type PolicyDecision,
  type PolicyRule,
} from "../../trust/policy.ts";

/** Decision of the rules, with reasons. */
interface PolicyExplanation {
  /** `depends` when no version was given and some version could be allowed. */
  readonly verdict: "allowed" | "denied" | "depends";
  /** The key of the configuration that decides; undefined when that depends on the version. */
  readonly rule: string | undefined;
  /** Milliseconds that a version must have been public; undefined when that depends on the version. */
  readonly minimumAge: number | undefined;
  /** One for each rule up to the deciding one, then the outcome. */
  readonly sentences: readonly string[];
}

/** Explains why the provider, or this version of it, is allowed or denied. */
export function explainPolicy(
  policy: Policy,
  provider: ProviderAddress,
  version?: Version,
): PolicyExplanation {
  return version === undefined
    ? explainProvider(policy, provider)
    : explainVersion(policy, provider, version);
}

function explainVersion(
  policy: Policy,
  provider: ProviderAddress,
  version: Version,
): PolicyExplanation {
  const decision = decideByRules(policy, provider, version);
  const { action, rule, minimumAge } = decision;
  const said = upTo(policy, rule).map((read) =>
    explainReading(read, provider, version),
  );
  return {
    verdict: action === "allow" ? "allowed" : "denied",
    rule,
    minimumAge,
    sentences: [
      ...said,
      `${formatProviderAddress(provider)} ${version} is ${formatOutcome(decision)}`,
    ],
  };
}

function explainReading(
  rule: PolicyRule,
  provider: ProviderAddress,
  version: Version,
): string {
  const name = formatRule(rule);
  switch (readRule(rule, provider, version)) {
    case "other-provider":
      return `${name} is about other providers.`;
    case "other-version":
      return `${name} is about other versions than ${version}.`;
    case "age-only":
      return `${name} does not allow ${version}, which it covers without naming it, but its minimum age holds.`;
    case "decides":
      return `${name} decides.`;
  }
}

function explainProvider(
  policy: Policy,
  provider: ProviderAddress,
): PolicyExplanation {
  const name = formatProviderAddress(provider);
  const denial = findProviderDenial(policy, provider);
  const conclusive = policy.rules.find(
    ({ pattern, versions }) =>
      isMatch(pattern, provider) && versions === undefined,
  );
  const last = conclusive ?? policy.otherwise;
  const before = upTo(policy, (denial ?? last).rule);
  const conditional = before.some(
    (rule) => isMatch(rule.pattern, provider) && rule.versions !== undefined,
  );
  const said = before.map((rule) => explainMatch(rule, provider));
  if (denial !== undefined || !conditional)
    return {
      verdict: denial === undefined ? "allowed" : "denied",
      rule: last.rule,
      minimumAge: last.minimumAge,
      sentences: [
        ...said,
        `Every version of ${name} is ${formatOutcome(last)}`,
      ],
    };
  return {
    verdict: "depends",
    rule: undefined,
    minimumAge: undefined,
    sentences: [
      ...said,
      `Every other version of ${name} is ${formatOutcome(last)}`,
    ],
  };
}

function explainMatch(rule: PolicyRule, provider: ProviderAddress): string {
  const name = formatRule(rule);
  if (!isMatch(rule.pattern, provider))
    return `${name} is about other providers.`;
  return rule.versions === undefined
    ? `${name} decides for every version that is left.`
    : `${name} decides for its versions.`;
}

/** The rules that are read before one of this name has decided, that one included. */
function upTo({ rules }: Policy, name: string): readonly PolicyRule[] {
  const index = rules.findIndex(({ rule }) => rule === name);
  return index < 0 ? rules : rules.slice(0, index + 1);
}

/** `policy.rules[0] (deny example.com/acme/*, versions >= 3.0.0)` */
function formatRule({ rule, action, pattern, versions }: PolicyRule): string {
  const range = versions && `, versions ${formatVersionConstraint(versions)}`;
  return `${rule} (${action} ${pattern.text}${range ?? ""})`;
}

function formatOutcome(decision: PolicyDecision): string {
  const { action, rule, minimumAge, minimumAgeRule } = decision;
  if (action === "deny") return `denied by ${rule}.`;
  const age =
    minimumAge > 0 && `, once it is ${formatDuration(minimumAge)} old`;
  return `allowed by ${rule}${age ? `${age} (${minimumAgeRule})` : ""}.`;
}
