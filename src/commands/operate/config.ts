import { parseProviderAddress } from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import { explainPolicy } from "../../mirror/trust/policy-explanation.ts";
import type { Policy } from "../../mirror/trust/policy.ts";

/** `config check --explain [HOSTNAME/]NAMESPACE/TYPE[@VERSION]`: which rule decides, in sentences. */
export function formatExplanation(policy: Policy, spec: string): string {
  const [address = "", version] = spec.split("@", 2);
  const { sentences } = explainPolicy(
    policy,
    parseProviderAddress(address),
    version === undefined ? undefined : parseVersion(version),
  );
  return sentences.map((sentence) => `${sentence}\n`).join("");
}
