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
import type { NamespaceTrust } from "../../trust/state.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import { isMatch, type ProviderPattern } from "../../address/policy-pattern.ts";
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
  /** True where versions of first contact that nothing dates are served. */
  readonly allowsUndated?: boolean;
  /** Report serves what the policy would refuse, and records it. */
  readonly mode?: "enforce" | "report";
  /** Hears of that; undefined where the policy refuses. */
  readonly report?: ((error: PolicyRefusal) => void) | undefined;
  readonly newKeys: NewKeys;
  readonly pins: readonly {
    readonly pattern: ProviderPattern;
    readonly fingerprints: readonly string[];
  }[];
}

export type PolicyRefusal = Failure<"policy-denied"> | Failure<"too-young">;

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
  name: string,
  version: Version | undefined,
  { rule, guidance }: PolicyDecision,
): Failure<"policy-denied"> {
  return failure("policy-denied", name, version, rule, guidance);
}

export function admitProvider(
  rules: AdmissionRules,
  provider: ProviderAddress,
): void {
  const denial = findProviderDenial(rules.policy, provider);
  if (denial === undefined) return;
  const name = formatProviderAddress(provider);
  refuseByPolicy(rules, denied(name, undefined, denial));
}

/** Admits hostnames that are not served, to which `policy.default` does not apply. */
export function admitElsewhere(
  rules: AdmissionRules,
  provider: ProviderAddress,
): void {
  const { policy } = rules;
  if (findProviderDenial(policy, provider) !== policy.otherwise)
    admitProvider(rules, provider);
}

/** Decides on a version by the rules alone, before any request. */
export function admitVersion(
  rules: AdmissionRules,
  { provider, version }: ReleaseAddress,
): PolicyDecision {
  const decision = decideByRules(rules.policy, provider, version);
  if (decision.action === "allow") return decision;
  const name = formatProviderAddress(provider);
  refuseByPolicy(rules, denied(name, version, decision));
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

/** True when a key that was good before may not be acceptable now, so that each release is looked at. */
export function limitsKeys(
  rules: AdmissionRules,
  provider: ProviderAddress,
  { decisions }: NamespaceTrust,
): boolean {
  const { newKeys, pins } = keyRulesOf(rules, provider);
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
  if (pins !== undefined)
    return fingerprint !== undefined && pins.has(fingerprint)
      ? undefined
      : "trust.keys";
  return newKeys === "refuse" ? "trust.newKeys" : undefined;
}
