import type { ProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import type { ReleaseOrigin } from "../releases/evidence.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import type { AdmissionRules } from "./admission-rules.ts";
import { leaveOutDenied, type LeftOut } from "./left-out.ts";
import type { TrustEntry } from "./trust-entry.ts";
import { decideByRules, type PolicyDecision } from "../../trust/policy.ts";

/** Origin of a provider, and the rules at the time of the request. */
export interface Served {
  readonly origin: ReleaseOrigin;
  readonly rules: AdmissionRules;
}

/**
 * Inputs of the decision on one request; each is looked up once and handed
 * down.
 */
export interface ProviderRequest extends Served {
  readonly provider: ProviderAddress;
  /** Trust entry of its namespace. */
  readonly entry: TrustEntry;
}

/** The same for one version, which the rules alone do not refuse. */
export interface ReleaseRequest extends ProviderRequest {
  readonly address: ReleaseAddress;
  readonly decision: PolicyDecision;
}

/** The versions that may be asked for, and those that the rules deny; both, where the policy only reports. */
export function requestVersions(
  request: ProviderRequest,
  versions: readonly Version[],
): {
  readonly allowed: readonly ReleaseRequest[];
  readonly denied: readonly LeftOut[];
} {
  const { provider, rules } = request;
  const allowed: ReleaseRequest[] = [];
  const denied: LeftOut[] = [];
  for (const version of versions) {
    const decision = decideByRules(rules.policy, provider, version);
    if (decision.action === "deny")
      denied.push(leaveOutDenied(version, decision));
    if (decision.action === "allow" || rules.report !== undefined)
      allowed.push({ ...request, address: { provider, version }, decision });
  }
  return { allowed, denied };
}

/** Undefined for a version that the rules refuse. */
export function requestVersion(
  request: ProviderRequest,
  version: Version,
): ReleaseRequest | undefined {
  return requestVersions(request, [version]).allowed[0];
}
