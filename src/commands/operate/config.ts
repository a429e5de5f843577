import { readProviderSpec, type SpecHosts } from "../../address/specs/spec.ts";
import { parseVersion } from "../../address/version.ts";
import { explainPolicy } from "../../mirror/trust/policy-explanation.ts";
import type { Policy } from "../../trust/policy.ts";

/** `config check --explain [HOSTNAME/]NAMESPACE/TYPE[@VERSION]`: which rule decides, in sentences. */
export function formatExplanation(
  policy: Policy,
  spec: string,
  hosts: SpecHosts,
): string {
  const { provider, chosen } = readProviderSpec(spec, hosts);
  const { sentences } = explainPolicy(
    policy,
    provider,
    chosen === undefined ? undefined : parseVersion(chosen),
  );
  return sentences.map((sentence) => `${sentence}\n`).join("");
}
