import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { PolicyDenied, type TooYoung } from "../../errors/index.ts";
import {
  decideKey,
  type KeyVerdict,
  type NewKeys,
} from "../../verification/trust-policy.ts";
import type { Release, ReleaseAddress } from "../releases/release.ts";
import type { VersionList } from "../releases/version-list.ts";
import { askOfKey } from "./key-question.ts";
import { revokedKeys, type NamespaceTrust } from "./namespace-trust.ts";
import { isMatch, type ProviderPattern } from "../../address/policy-pattern.ts";
import {
  decideByRules,
  findProviderDenial,
  type Policy,
  type PolicyDecision,
} from "./policy.ts";

/** `policy` and `trust` of the configuration, ready to be asked. */
export interface AdmissionRules {
  /** No list will ever be had, so that the signature alone dates what was imported. */
  readonly offline: boolean;
  readonly policy: Policy;
  /** What the policy would refuse is served all the same, and told. */
  readonly mode?: "enforce" | "report";
  /** Hears of that; undefined where the policy refuses. */
  readonly report?: ((error: PolicyRefusal) => void) | undefined;
  readonly newKeys: NewKeys;
  readonly pins: readonly {
    readonly pattern: ProviderPattern;
    readonly fingerprints: readonly string[];
  }[];
}

export type PolicyRefusal = PolicyDenied | TooYoung;

/** Throws what the policy refuses, unless it only reports. */
export function refuseByPolicy(
  { report }: AdmissionRules,
  error: PolicyRefusal,
): void {
  if (report === undefined) throw error;
  report(error);
}

/** Throws PolicyDenied when no version of the provider could be allowed. */
export function admitProvider(
  rules: AdmissionRules,
  provider: ProviderAddress,
): void {
  const rule = findProviderDenial(rules.policy, provider);
  if (rule === undefined) return;
  const name = formatProviderAddress(provider);
  refuseByPolicy(rules, new PolicyDenied(name, undefined, rule));
}

/** For hostnames that are not served, of which `policy.default` does not speak; throws PolicyDenied. */
export function admitElsewhere(
  rules: AdmissionRules,
  provider: ProviderAddress,
): void {
  const { policy } = rules;
  if (findProviderDenial(policy, provider) !== policy.otherwise.rule)
    admitProvider(rules, provider);
}

/** What the rules alone decide of a version, before anything is asked; throws PolicyDenied. */
export function admitVersion(
  rules: AdmissionRules,
  { provider, version }: ReleaseAddress,
): PolicyDecision {
  const decision = decideByRules(rules.policy, provider, version);
  if (decision.action === "allow") return decision;
  const name = formatProviderAddress(provider);
  refuseByPolicy(rules, new PolicyDenied(name, version, decision.rule));
  return decision;
}

/** False when no signing key of the provider could be acceptable. */
export function takesKeys(
  rules: AdmissionRules,
  provider: ProviderAddress,
): boolean {
  return rules.newKeys !== "refuse" || pinsOf(rules, provider) !== undefined;
}

/** True when only some keys are acceptable for the provider, whatever it was signed with before. */
export function limitsKeys(
  rules: AdmissionRules,
  provider: ProviderAddress,
  trust: NamespaceTrust,
): boolean {
  return (
    rules.newKeys === "refuse" ||
    pinsOf(rules, provider) !== undefined ||
    revokedKeys(trust, provider.type).size > 0
  );
}

/** How the rules and what is known of the namespace decide on a release's key. */
export function decideReleaseKey(
  rules: AdmissionRules,
  address: ReleaseAddress,
  release: Release,
  list: VersionList | undefined,
  trust: NamespaceTrust,
): KeyVerdict {
  const { newKeys } = rules;
  const pins = pinsOf(rules, address.provider);
  const { exemption } = release.checksums;
  const isOptional = pins === undefined && newKeys !== "refuse";
  // Where the operator wants no signatures, there are no keys to hold against one another.
  if (exemption === "signatures-off" && isOptional)
    return { accepted: true, because: "known" };
  const known = askOfKey(address, release, list, trust);
  return decideKey({ ...known, newKeys, pins });
}

function pinsOf(
  { pins }: AdmissionRules,
  provider: ProviderAddress,
): ReadonlySet<string> | undefined {
  const matching = pins.filter(({ pattern }) => isMatch(pattern, provider));
  return matching.length === 0
    ? undefined
    : new Set(matching.flatMap(({ fingerprints }) => fingerprints));
}
