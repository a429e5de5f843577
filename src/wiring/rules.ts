import { type Configuration } from "../config/load.ts";
import { failure, isFailure } from "../errors/index.ts";
import type { AdmissionRules } from "../mirror/trust/admission-rules.ts";
import { parseProviderPattern } from "../address/policy-pattern.ts";
import { parsePolicy } from "../trust/policy.ts";

/**
 * Builds the rules of a configuration; throws a configuration error for an
 * invalid pattern.
 */
export function wireRules({
  policy,
  trust,
  offline,
  source,
}: Configuration): AdmissionRules {
  try {
    return {
      offline,
      mode: policy.mode,
      policy: parsePolicy(policy),
      allowsUndated: policy.undated === "allow",
      newKeys: trust.newKeys,
      pins: trust.keys.map(({ match, fingerprints }) => ({
        pattern: parseProviderPattern(match),
        fingerprints,
      })),
    };
  } catch (error) {
    if (!isFailure(error, "malformed-address")) throw error;
    throw failure("configuration", source ?? "", error.sentence, error.remedy);
  }
}
