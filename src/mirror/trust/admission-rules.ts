import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { failure, type Failure, isModuleType } from "../../errors/index.ts";
import {
  findKnownKey,
  type KeyRules,
  type NewKeys,
} from "../../trust/key-verdict.ts";
import type { FirstContact, NamespaceTrust } from "../../trust/state.ts";
import type { Youth } from "../../trust/age.ts";
import { isMatch, type Pattern } from "../../address/policy-pattern.ts";
import {
  decideByRules,
  findProviderDenial,
  type Policy,
  type PolicyDecision,
} from "../../trust/policy.ts";

/** `policy` and `trust` of the configuration, ready to be asked. */
export interface AdmissionRules {
  /** No list will ever be had, so that the signature alone dates what was imported. */
  readonly offline: boolean;
  readonly policy: Policy;
  /** Report serves what the policy would refuse, and records it. */
  readonly mode?: "enforce" | "report";
  /** Hears of that; undefined where the policy refuses. */
  readonly report?: ((error: PolicyRefusal) => void) | undefined;
  readonly newKeys: NewKeys;
  readonly pins: readonly {
    readonly pattern: Pattern;
    readonly fingerprints: readonly string[];
  }[];
}

export type PolicyRefusal = Failure<"policy-denied"> | Failure<"too-young">;

type Subject = ProviderAddress | ModuleAddress;

export function formatSubject(subject: Subject): string {
  return "system" in subject
    ? formatModuleAddress(subject)
    : formatProviderAddress(subject);
}

/** Throws what the policy refuses, unless it only reports. */
export function refuseByPolicy(
  { report }: AdmissionRules,
  error: PolicyRefusal,
): void {
  if (report === undefined) throw error;
  report(error);
}

/** Makes the refusal of a provider or module, or of one version of it. */
export function denied(
  subject: Subject,
  version: Version | undefined,
  { rule, guidance }: PolicyDecision,
): Failure<"policy-denied"> {
  const name = formatSubject(subject);
  return failure("policy-denied", name, version, rule, guidance);
}

export function youthOf(
  subject: Subject,
  version: Version,
  { minimumAgeRule, guidance }: PolicyDecision,
  { availableAt }: Youth,
): Failure<"too-young"> {
  const facts = [formatSubject(subject), version, minimumAgeRule] as const;
  return failure("too-young", ...facts, availableAt, guidance);
}

/** Decides on a whole provider or module. */
export function admitSubject(rules: AdmissionRules, subject: Subject): void {
  const denial = findProviderDenial(rules.policy, subject);
  if (denial !== undefined)
    refuseByPolicy(rules, denied(subject, undefined, denial));
}

/** Admits hostnames that are not served, to which `policy.default` does not apply. */
export function admitElsewhere(rules: AdmissionRules, subject: Subject): void {
  const { policy } = rules;
  if (findProviderDenial(policy, subject) !== policy.otherwise)
    admitSubject(rules, subject);
}

/** Decides on a version by the rules alone, before any request. */
export function admitVersion(
  rules: AdmissionRules,
  subject: Subject,
  version: Version,
): PolicyDecision {
  const decision = decideByRules(rules.policy, subject, version);
  if (decision.action === "deny")
    refuseByPolicy(rules, denied(subject, version, decision));
  return decision;
}

/** Resolves `trust` of the configuration for one provider. */
export function keyRulesOf(
  { newKeys, pins }: AdmissionRules,
  provider: ProviderAddress,
): KeyRules {
  const matching = pins.filter(({ pattern }) => isMatch(pattern, provider));
  const fingerprints = matching.flatMap((pin) => pin.fingerprints);
  return {
    newKeys,
    pins: matching.length === 0 ? undefined : new Set(fingerprints),
    knownKey: findKnownKey(provider),
  };
}

/** True when the key of a release of first contact may not be acceptable, so that each is looked at. */
export function limitsKeys(
  rules: AdmissionRules,
  provider: ProviderAddress,
  { decisions }: NamespaceTrust,
  contact: FirstContact,
): boolean {
  const { newKeys, pins, knownKey } = keyRulesOf(rules, provider);
  if (knownKey !== undefined && contact.key !== knownKey) return true;
  const { keys, contents } = decisions;
  const isRevoking = [...keys, ...contents].some(
    ({ decision, type }) =>
      decision === "revoked" && (type === null || type === provider.type),
  );
  return newKeys === "refuse" || pins !== undefined || isRevoking;
}

/** Finds the key of the configuration that excludes a signing key, so that no approval helps; none excludes a module, which is not signed. */
export function findExclusion(
  rules: AdmissionRules,
  provider: ProviderAddress,
  fingerprint: string | undefined,
): "trust.keys" | "trust.newKeys" | undefined {
  if (isModuleType(provider.type)) return undefined;
  const { newKeys, pins } = keyRulesOf(rules, provider);
  if (pins === undefined)
    return newKeys === "refuse" ? "trust.newKeys" : undefined;
  return fingerprint && pins.has(fingerprint) ? undefined : "trust.keys";
}
