import { formatProviderAddress } from "../../address/provider-address.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { AuditLog } from "../../telemetry/audit-log.ts";
import type { KeyVerdict } from "../../verification/trust-policy.ts";
import type { Clock } from "../cache/clock.ts";
import { isSameRelease, type NamespaceTrust } from "./namespace-trust.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import type { TrustLedger } from "./ledger.ts";

interface Notebook {
  readonly ledger: TrustLedger;
  readonly audit: AuditLog;
  readonly alarms: Alarms;
  readonly clock: Clock;
}

type Acceptance = (KeyVerdict & { readonly accepted: true })["because"];

/** Remembers a key that a release was accepted under, once; a release that was held back is so no more. */
export async function noteAcceptedKey(
  { ledger, audit, alarms, clock }: Notebook,
  { provider, version }: ReleaseAddress,
  fingerprint: string | undefined,
  because: Acceptance,
  trust: NamespaceTrust,
): Promise<void> {
  const name = { type: provider.type, version };
  const learnt = teaches(because) ? fingerprint : undefined;
  const isNew = ({ keys }: NamespaceTrust["seen"]) =>
    learnt !== undefined && !keys.some((key) => key.fingerprint === learnt);
  const wasHeldBack = trust.seen.quarantined.some((held) =>
    isSameRelease(held, name),
  );
  if (!isNew(trust.seen) && !wasHeldBack) return;
  const since = clock.now().toISOString();
  const key = { fingerprint: learnt ?? "", since, because, ...name };
  const before = await ledger.noteSeen(provider, (seen) => ({
    ...seen,
    keys: isNew(seen) ? [...seen.keys, key] : seen.keys,
    quarantined: seen.quarantined.filter((held) => !isSameRelease(held, name)),
  }));
  if (!isNew(before)) return;
  const facts = {
    provider: formatProviderAddress(provider),
    version,
    fingerprint: learnt,
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
  const isNoted = ({ quarantined }: NamespaceTrust["seen"]) =>
    quarantined.some(
      (held) =>
        isSameRelease(held, name) &&
        held.fingerprint === fingerprint &&
        held.reason === reason,
    );
  if (isNoted(trust.seen)) return;
  const since = clock.now().toISOString();
  const before = await ledger.noteSeen(provider, (seen) => ({
    ...seen,
    quarantined: [
      ...seen.quarantined.filter((held) => !isSameRelease(held, name)),
      { ...name, fingerprint, reason, since },
    ],
  }));
  if (isNoted(before)) return;
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

/** A re-signed release is believed for its digests, which says nothing of its new key for others. */
function teaches(because: Acceptance): boolean {
  return because !== "resigned";
}
