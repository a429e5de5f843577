import { formatProviderAddress } from "../address/provider-address.ts";
import type { Alarms } from "../telemetry/alarms.ts";
import type { AuditLog } from "../telemetry/audit-log.ts";
import type { Clock } from "./clock.ts";
import { isApprovedReplacement, isSameRelease } from "./namespace-trust.ts";
import { documentDigest, type Continuity } from "./release-continuity.ts";
import type { Release, ReleaseAddress } from "./release.ts";
import type { TrustLedger } from "./trust-ledger.ts";

/** Writes down what happens to releases: first seen, offered anew with other content, replaced by an operator's word. */
export class ReleaseHistory {
  readonly #ledger: TrustLedger;
  readonly #audit: AuditLog;
  readonly #alarms: Alarms;
  readonly #clock: Clock;

  constructor(parts: {
    readonly ledger: TrustLedger;
    readonly audit: AuditLog;
    readonly alarms: Alarms;
    readonly clock: Clock;
  }) {
    this.#ledger = parts.ledger;
    this.#audit = parts.audit;
    this.#alarms = parts.alarms;
    this.#clock = parts.clock;
  }

  /** Tells whether an operator approved a given SHA256SUMS in place of the first of this release. */
  async approvalsOf({
    provider,
    version,
  }: ReleaseAddress): Promise<(offered: string) => boolean> {
    const trust = await this.#ledger.read(provider);
    const name = { type: provider.type, version };
    return (offered) => isApprovedReplacement(trust, name, offered);
  }

  /** True between an operator's approval of other content and its arrival. */
  async awaitsReplacement({
    provider,
    version,
  }: ReleaseAddress): Promise<boolean> {
    const trust = await this.#ledger.read(provider);
    const name = { type: provider.type, version };
    return trust.seen.replaced.some(
      (entry) =>
        isSameRelease(entry, name) &&
        isApprovedReplacement(trust, name, entry.offered),
    );
  }

  /** On disk before the release is answered with. */
  async note(
    address: ReleaseAddress,
    known: Release | undefined,
    continuity: Continuity,
  ): Promise<void> {
    const { release, change } = continuity;
    if (known === undefined)
      await this.#record(address, "first-seen", "accepted", release);
    if (change.kind === "approved") await this.#noteApproved(address, release);
    if (change.kind === "replaced") await this.#noteReplaced(address, change);
  }

  async #noteApproved(
    address: ReleaseAddress,
    release: Release,
  ): Promise<void> {
    const { provider, version } = address;
    await this.#record(address, "replaced", "accepted", release);
    await this.#ledger.noteSeen(provider, (seen) => ({
      ...seen,
      replaced: seen.replaced.filter(
        (entry) => !isSameRelease(entry, { type: provider.type, version }),
      ),
    }));
  }

  async #noteReplaced(
    { provider, version }: ReleaseAddress,
    {
      offered,
      fingerprint,
    }: { readonly offered: string; readonly fingerprint: string | undefined },
  ): Promise<void> {
    const name = { type: provider.type, version };
    const { seen } = await this.#ledger.read(provider);
    const isNoted = seen.replaced.some(
      (entry) => isSameRelease(entry, name) && entry.offered === offered,
    );
    if (isNoted) return;
    const since = this.#clock.now().toISOString();
    await this.#ledger.noteSeen(provider, (before) => ({
      ...before,
      replaced: [
        ...before.replaced.filter((entry) => !isSameRelease(entry, name)),
        { ...name, offered, fingerprint: fingerprint ?? null, since },
      ],
    }));
    const facts = { provider: formatProviderAddress(provider), version };
    await this.#audit.record(
      {
        event: "replaced",
        verdict: "refused",
        rule: "first seen wins",
        detail: `SHA256SUMS ${offered}`,
        ...facts,
        ...(fingerprint === undefined ? {} : { fingerprint }),
      },
      { durable: true },
    );
    this.#alarms.raise("release-replaced", { ...facts, offered });
  }

  async #record(
    { provider, version }: ReleaseAddress,
    event: "first-seen" | "replaced",
    verdict: "accepted",
    release: Release,
  ): Promise<void> {
    const { signedBy, exemption } = release.checksums;
    await this.#audit.record(
      {
        event,
        verdict,
        provider: formatProviderAddress(provider),
        version,
        detail: `SHA256SUMS ${documentDigest(release)}`,
        ...(signedBy === undefined ? {} : { fingerprint: signedBy }),
        ...(exemption === undefined
          ? {}
          : { rule: `signatures: ${exemption}` }),
      },
      { durable: true },
    );
  }
}
