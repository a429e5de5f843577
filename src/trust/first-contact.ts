import { findKeyDecision, type ReleaseName } from "./decisions.ts";
import type { FirstContact, NamespaceTrust } from "./state.ts";

/**
 * Decides what the first contact with a provider teaches (docs/trust.md, rules 3
 * and 4): the very first one of a namespace gives it a key, a later one counts for
 * its own provider alone, with an alarm where its key differs from those of a namespace
 * that is known.
 */
export function noteContact<N extends NamespaceTrust>(
  namespace: N,
  type: string,
  { key, newest }: Pick<FirstContact, "key" | "newest">,
) {
  const { firstKey, decisions } = namespace;
  const name = { type, version: newest };
  const isDecided = decisions.keys.some(
    ({ decision }) => decision === "approved",
  );
  const isFirst = firstKey === undefined && !isDecided;
  const first = { type, fingerprint: isDecided ? undefined : key };
  return {
    namespace: firstKey ? namespace : { ...namespace, firstKey: first },
    alarms:
      !isFirst &&
      key !== firstKey?.fingerprint &&
      !findKeyDecision(decisions, "approved", name, key),
  };
}

/** Makes the key the provider's own, once (docs/trust.md, rule 4). */
export function learnProviderKey<N extends NamespaceTrust>(
  namespace: N,
  { type, version }: ReleaseName,
  fingerprint: string,
): N {
  return namespace.providerKeys.some((key) => key.type === type)
    ? namespace
    : {
        ...namespace,
        providerKeys: [
          ...namespace.providerKeys,
          { type, version, fingerprint },
        ],
      };
}
