import { findNearest } from "../../errors/nearest.ts";
import { isMatch } from "../../address/policy-pattern.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { formatDuration } from "../../address/units.ts";
import { formatVersionConstraint } from "../../address/version-constraint.ts";
import type { Version } from "../../address/version.ts";
import {
  decideByRules,
  type Policy,
  type PolicyDecision,
} from "../../trust/policy.ts";
import type { Answer } from "../cache/answer.ts";
import type { Release } from "../releases/release.ts";
import type { Refusals } from "../standings/refused-versions.ts";
import type { TamperedArchives } from "../releases/tampered-archives.ts";
import {
  explainPending,
  type PendingDecision,
} from "../trust/pending-decisions.ts";

/** Entries of one sort that a page names. */
const mostTold = 20;

/**
 * Returns a note when an answer is stale, because the origin registry fails.
 */
export function tellAge({ outcome, age }: Answer<unknown>): readonly string[] {
  if (outcome !== "stale") return [];
  const seconds = Math.round(age / 1000);
  return [
    `The origin registry is failing; this is what it said ${seconds} s ago.`,
  ];
}

export function tellSigner({ checksums }: Release): string {
  const { signedBy } = checksums;
  return signedBy === undefined
    ? "It is not signed, which the configuration allows."
    : `It is signed with the key ${signedBy}.`;
}

/** Names candidates of a provider, each with the command that takes it. */
export function tellPending(
  pending: readonly PendingDecision[],
  version: Version | undefined,
): readonly string[] {
  return pending
    .filter((one) => version === undefined || one.version === version)
    .slice(0, mostTold)
    .map((one) => {
      const { version, command, setting } = one;
      const remedy =
        command === undefined
          ? `change "${setting}" if it is good`
          : `"${command}" takes it`;
      return `${version} is offered as a candidate since ${one.since} (${explainPending(one)}), which clients do not get: after checking with the publisher, ${remedy}.`;
    });
}

/** Archives of a release that came with other bytes than were signed. */
export async function tellTampered(
  { packages }: Release,
  tampered: TamperedArchives,
): Promise<readonly string[]> {
  const own = [...packages.values()];
  const found = await Promise.all(
    own.map(({ sha256 }) => tampered.find(sha256)),
  );
  return own.flatMap(({ filename, sha256 }, index) => {
    const one = found[index];
    return one === undefined
      ? []
      : [
          `The origin sent other bytes for ${filename} than were signed, last at ${one.at.toISOString()}: expected SHA-256 ${sha256}, got ${one.got}; nothing of them was kept.`,
        ];
  });
}

/** Says since when a listed version has no documents. */
export function tellPhantom(
  refusals: Refusals,
  version: Version,
): readonly string[] {
  const { kind, since } = refusals.get(version) ?? {};
  if (kind !== "phantom" || since === undefined) return [];
  return [
    `Its registry lists it without having its documents (404 or 410), as seen first at ${since.toISOString()}: lists of this mirror leave it out until they come, and the registry is asked again after "freshness.notFound".`,
  ];
}

/** Suggests a similar name of the same kind. */
export function tellNearest(
  name: string,
  known: readonly string[],
): readonly string[] {
  const nearest = findNearest(name, known);
  return nearest === undefined || nearest === name
    ? []
    : [`This mirror knows ${nearest}, which has a similar name.`];
}

/** Without the hostname, which is alike too often. */
export function nearestProvider(
  provider: ProviderAddress,
  known: readonly ProviderAddress[],
): readonly string[] {
  const siblings = known
    .filter(({ hostname }) => hostname === provider.hostname)
    .map(({ namespace, type }) => `${namespace}/${type}`);
  const { namespace, type } = provider;
  return tellNearest(`${namespace}/${type}`, siblings);
}

/** The line of the configuration that decides about a version; of a whole provider, each that decides about some of its versions, and about the rest. */
export function tellRules(
  policy: Policy,
  provider: ProviderAddress,
  version: Version | undefined,
): readonly string[] {
  const name = formatProviderAddress(provider);
  if (version !== undefined) {
    const decision = decideByRules(policy, provider, version);
    return [`${name} ${version} is ${formatOutcome(policy, decision)}`];
  }
  const about = policy.rules.filter(({ pattern }) =>
    isMatch(pattern, provider),
  );
  const end = about.findIndex(({ versions }) => versions === undefined);
  const some = end < 0 ? about : about.slice(0, end);
  const rest = some.length > 0 ? "Every other version" : "Every version";
  const outcome = formatOutcome(policy, about[end] ?? policy.otherwise);
  return [
    ...some.map(
      ({ rule }) => `${formatRule(policy, rule)} decides for its versions.`,
    ),
    `${rest} of ${name} is ${outcome}`,
  ];
}

function formatOutcome(policy: Policy, decision: PolicyDecision): string {
  const { action, rule, minimumAge, minimumAgeRule } = decision;
  const by = formatRule(policy, rule);
  if (action === "deny") return `denied by ${by}.`;
  return minimumAge === 0
    ? `allowed by ${by}.`
    : `allowed by ${by}, once it is ${formatDuration(minimumAge)} old (${minimumAgeRule}).`;
}

/** `policy.rules[0] (deny example.com/acme/*, versions >= 3.0.0)`; the default's key alone. */
function formatRule({ rules }: Policy, key: string): string {
  const found = rules.find(({ rule }) => rule === key);
  if (found === undefined) return key;
  const { action, pattern, versions } = found;
  const range = versions && `, versions ${formatVersionConstraint(versions)}`;
  return `${key} (${action} ${pattern.text}${range ?? ""})`;
}
