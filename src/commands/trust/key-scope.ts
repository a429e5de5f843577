import { formatTrustScope } from "../../address/specs/trust-scope.ts";
import type {
  Decisions,
  KeyDecision,
  KeyScope,
  ReleaseName,
} from "../../trust/decisions.ts";
import type { Namespace } from "../../mirror/trust/trust-records.ts";

/** True when everything within `inner` is within `outer`. */
export function covers(outer: KeyScope, inner: KeyScope): boolean {
  return (
    (outer.type === null || outer.type === inner.type) &&
    (outer.version === null || outer.version === inner.version)
  );
}

/** True when something is within both. */
export function meets(one: KeyScope, other: KeyScope): boolean {
  return covers(one, other) || covers(other, one);
}

export function isSameScope(one: KeyScope, other: KeyScope): boolean {
  return one.type === other.type && one.version === other.version;
}

/** Finds the revocation that refuses a key for a release. */
export function findRevocation(
  { keys }: Decisions,
  release: ReleaseName,
  fingerprint: string,
): KeyDecision | undefined {
  return keys.find(
    (key) =>
      key.decision === "revoked" &&
      key.fingerprint === fingerprint &&
      covers(key, release),
  );
}

/** Writes the scope of a decision as commands take it. */
export function nameDecided(
  { hostname, namespace }: Namespace,
  { type, version }: KeyScope,
): string {
  return formatTrustScope({ hostname, namespace, type, version });
}
