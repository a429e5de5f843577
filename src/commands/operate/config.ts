import { parseProviderAddress } from "../../address/provider-address.ts";
import { splitSpec } from "../../address/provider-spec.ts";
import { parseVersion } from "../../address/version.ts";
import { explainPolicy } from "../../mirror/trust/policy-explanation.ts";
import type { Policy } from "../../mirror/trust/policy.ts";

/** `config check --explain [HOSTNAME/]NAMESPACE/TYPE[@VERSION]`: which rule decides, in sentences. */
export function formatExplanation(policy: Policy, spec: string): string {
  const { name, chosen } = splitSpec(spec);
  const { sentences } = explainPolicy(
    policy,
    parseProviderAddress(name),
    chosen === undefined ? undefined : parseVersion(chosen),
  );
  return sentences.map((sentence) => `${sentence}\n`).join("");
}
