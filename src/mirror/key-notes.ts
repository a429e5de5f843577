import type { Alarms } from "../telemetry/alarms.ts";
import type { AuditLog } from "../telemetry/audit-log.ts";
import type { KeyVerdict } from "../verification/trust-policy.ts";
import type { Clock } from "./clock.ts";
import { isSameRelease, type NamespaceTrust } from "./namespace-trust.ts";
import { formatProviderAddress } from "../address/provider-address.ts";
import type { ReleaseAddress } from "./release.ts";
import type { TrustLedger } from "./trust-ledger.ts";

interface Notebook {
  readonly ledger: TrustLedger;
  readonly audit: AuditLog;
  readonly alarms: Alarms;
  readonly clock: Clock;
}

/** Remembers a key that a release was accepted under, once; a release that was held back is so no more. */
export async function noteAcceptedKey(
  { ledger, audit, alarms, clock }: Notebook,
  { provider, version }: ReleaseAddress,
  fingerprint: string,
  { because }: KeyVerdict & { readonly accepted: true },
  trust: NamespaceTrust,
): Promise<void> {
  const name = { type: provider.type, version };
  const isKnown = trust.seen.keys.some(
    (key) => key.fingerprint === fingerprint,
  );
  const wasHeldBack = trust.seen.quarantined.some((held) =>
    isSameRelease(held, name),
  );
  if (isKnown && !wasHeldBack) return;
  const since = clock.now().toISOString();
  const isSame = (key: { readonly fingerprint: string }) =>
    key.fingerprint === fingerprint;
  const before = await ledger.noteSeen(provider, (seen) => ({
    ...seen,
    keys: seen.keys.some(isSame)
      ? seen.keys
      : [...seen.keys, { fingerprint, since, because, ...name }],
    quarantined: seen.quarantined.filter((held) => !isSameRelease(held, name)),
  }));
  if (before.keys.some(isSame)) return;
  const facts = {
    provider: formatProviderAddress(provider),
    version,
    fingerprint,
  };
  await audit.record(
    {
      event: "new-key",
      verdict: "accepted",
      rule: `trust: ${because}`,
      ...facts,
    },
    { durable: true },
  );
  if (because === "new") alarms.raise("key-new", facts);
}

/** Remembers a release that is held back because of its key, once. */
export async function noteRefusedKey(
  { ledger, audit, alarms, clock }: Notebook,
  { provider, version }: ReleaseAddress,
  fingerprint: string,
  reason: "revoked" | "not-pinned" | "unknown",
  trust: NamespaceTrust,
): Promise<void> {
  const name = { type: provider.type, version };
  const isNoted = trust.seen.quarantined.some(
    (held) => isSameRelease(held, name) && held.fingerprint === fingerprint,
  );
  if (isNoted) return;
  const since = clock.now().toISOString();
  await ledger.noteSeen(provider, (seen) => ({
    ...seen,
    quarantined: [
      ...seen.quarantined.filter((held) => !isSameRelease(held, name)),
      { ...name, fingerprint, reason, since },
    ],
  }));
  const facts = {
    provider: formatProviderAddress(provider),
    version,
    fingerprint,
  };
  await audit.record(
    {
      event: "quarantined",
      verdict: "refused",
      rule: `trust: ${reason}`,
      ...facts,
    },
    { durable: true },
  );
  alarms.raise("key-refused", { ...facts, reason });
}
