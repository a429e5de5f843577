import { type Configuration } from "../config/load.ts";
import { ConfigurationInvalid, MalformedAddress } from "../errors/index.ts";
import type { AdmissionRules } from "../mirror/trust/admission-rules.ts";
import { parseProviderPattern } from "../address/policy-pattern.ts";
import { parsePolicy } from "../trust/policy.ts";

/**
 * Builds the rules of a configuration; throws ConfigurationInvalid for an
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
      newKeys: trust.newKeys,
      pins: trust.keys.map(({ match, fingerprints }) => ({
        pattern: parseProviderPattern(match),
        fingerprints,
      })),
    };
  } catch (error) {
    if (!(error instanceof MalformedAddress)) throw error;
    throw new ConfigurationInvalid(source ?? "", error.message);
  }
}
