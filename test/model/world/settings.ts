import { parseProviderPattern } from "../../../src/address/policy-pattern.ts";
import type { AdmissionRules } from "../../../src/mirror/trust/admission-rules.ts";
import { parsePolicy } from "../../../src/trust/policy.ts";
import type { SignatureProfile } from "../../../src/verification/openpgp/signature.ts";
import { fingerprintOf, type KeyName } from "./toy-keys.ts";

export const hostname = "registry.terraform.io";
export const namespace = "acme";

/** Milliseconds. */
export const freshness = {
  versions: 300_000,
  staleFor: 7 * 86_400_000,
  notFound: 30_000,
};

/** What an operator configures, as far as it decides on trust. */
export interface Settings {
  readonly offline: boolean;
  readonly signatures: "required" | "when-published" | "off";
  readonly profile: SignatureProfile;
  readonly newKeys: AdmissionRules["newKeys"];
  /** Several processes work on the store. */
  readonly shared: boolean;
  /** Keys that `trust.keys` names for the namespace; undefined: none. */
  readonly pins: readonly KeyName[] | undefined;
}

export function rulesOf({ offline, newKeys, pins }: Settings): AdmissionRules {
  const pattern = parseProviderPattern(`${hostname}/${namespace}/*`);
  return {
    offline,
    newKeys,
    policy: parsePolicy({ default: "allow", minimumAge: 0, rules: [] }),
    pins: pins ? [{ pattern, fingerprints: pins.map(fingerprintOf) }] : [],
  };
}
