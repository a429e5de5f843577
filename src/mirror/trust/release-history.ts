import { formatProviderAddress } from "../../address/provider-address.ts";
import { SignatureRefused } from "../../errors/index.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { AuditEntry, AuditLog } from "../../telemetry/audit-log.ts";
import type { Clock } from "../cache/clock.ts";
import {
  findFall,
  isApprovedReplacement,
  isSameRelease,
  knownKeys,
  revokedKeys,
  type NamespaceTrust,
  type ReleaseName,
  type Seen,
} from "./namespace-trust.ts";
import {
  documentDigest,
  type Change,
  type Continuity,
  type Standing,
} from "../releases/continuity.ts";
import {
  formatRelease,
  type Release,
  type ReleaseAddress,
} from "../releases/release.ts";
import { listChangedReports } from "../releases/reported-hashes.ts";
import type { TrustLedger } from "./ledger.ts";

interface HistoryParts {
  readonly ledger: TrustLedger;
  readonly audit: AuditLog;
  readonly alarms: Alarms;
  readonly clock: Clock;
}

type Replaced = Change & { readonly kind: "replaced" };

/** Writes down what happens to releases: first seen, offered anew with other content, replaced by an operator's word, fallen with its keys. */
export class ReleaseHistory {
  readonly #parts: HistoryParts;

  constructor(parts: HistoryParts) {
    this.#parts = parts;
  }

  /** What was decided on a release before it is asked for again. */
  async recall(address: ReleaseAddress): Promise<Standing> {
    const trust = await this.#parts.ledger.read(address.provider);
    const name = nameOf(address);
    const fall = findFall(trust, name);
    return {
      isApproved: (offered) => isApprovedReplacement(trust, name, offered),
      fallen: fall && fallenError(address, fall.reason),
    };
  }

  /** True between an operator's approval of other content and its arrival. */
  async awaitsReplacement(address: ReleaseAddress): Promise<boolean> {
    const trust = await this.#parts.ledger.read(address.provider);
    const name = nameOf(address);
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
    { release, change, fallen }: Continuity,
  ): Promise<void> {
    if (known === undefined && change.kind === "none")
      await this.#record(address, "first-seen", release);
    if (change.kind === "approved")
      await this.#record(address, "replaced", release);
    if (change.kind === "resigned")
      await this.#noteResigned(address, release, change.before);
    if (change.kind === "replaced") await this.#noteReplaced(address, change);
    if (known !== undefined) this.#alarmOfReports(address, known, release);
    await this.#forget(address, {
      replaced: change.kind !== "replaced",
      fallen: fallen === undefined,
    });
    if (fallen !== undefined) await this.#noteFallen(address, fallen);
  }

  /** Of what the origin reports beside its checksums; each change once. */
  #alarmOfReports(
    address: ReleaseAddress,
    known: Release,
    { reported }: Release,
  ): void {
    for (const changed of listChangedReports(known.reported, reported))
      this.#parts.alarms.raise("package-hash-conflict", {
        ...factsOf(address),
        ...changed,
      });
  }

  /** The origin offers the believed content again, or its keys let it stand again. */
  async #forget(
    address: ReleaseAddress,
    what: { readonly replaced: boolean; readonly fallen: boolean },
  ): Promise<void> {
    const name = nameOf(address);
    const others = <T extends ReleaseName>(entries: T[], drop: boolean): T[] =>
      drop ? entries.filter((entry) => !isSameRelease(entry, name)) : entries;
    const without = (seen: Seen): Seen => ({
      ...seen,
      replaced: others(seen.replaced, what.replaced),
      fallen: others(seen.fallen, what.fallen),
    });
    const { seen } = await this.#parts.ledger.read(address.provider);
    const rest = without(seen);
    if (
      rest.replaced.length < seen.replaced.length ||
      rest.fallen.length < seen.fallen.length
    )
      await this.#parts.ledger.noteSeen(address.provider, without);
  }

  /** Unless the key that signed before was itself held back, the new one is believed for this release. */
  async #noteResigned(
    address: ReleaseAddress,
    release: Release,
    before: string,
  ): Promise<void> {
    const { ledger, clock } = this.#parts;
    const trust = await ledger.read(address.provider);
    const fingerprint = release.checksums.signedBy;
    const { type } = address.provider;
    const wasGood =
      isBelieved(trust, type, before) && !revokedKeys(trust, type).has(before);
    if (fingerprint === undefined || !wasGood) return;
    const name = nameOf(address);
    const since = clock.now().toISOString();
    await ledger.noteSeen(address.provider, (seen) => ({
      ...seen,
      resigned: [
        ...seen.resigned.filter((entry) => !isSameRelease(entry, name)),
        { ...name, fingerprint, since },
      ],
    }));
    await this.#record(address, "judged-again", release);
  }

  async #noteReplaced(
    address: ReleaseAddress,
    { offered, fingerprint }: Replaced,
  ): Promise<void> {
    const { ledger, alarms, clock } = this.#parts;
    const name = nameOf(address);
    const { seen } = await ledger.read(address.provider);
    const isNoted = seen.replaced.some(
      (entry) => isSameRelease(entry, name) && entry.offered === offered,
    );
    if (isNoted) return;
    const since = clock.now().toISOString();
    await ledger.noteSeen(address.provider, (before) => ({
      ...before,
      replaced: [
        ...before.replaced.filter((entry) => !isSameRelease(entry, name)),
        { ...name, offered, fingerprint: fingerprint ?? null, since },
      ],
    }));
    await this.#audit(address, {
      event: "replaced",
      verdict: "refused",
      rule: "first seen wins",
      detail: isDigest(offered) ? `SHA256SUMS ${offered}` : offered,
      fingerprint,
    });
    alarms.raise("release-replaced", { ...factsOf(address), offered });
  }

  async #noteFallen(
    address: ReleaseAddress,
    { reason, message }: SignatureRefused,
  ): Promise<void> {
    const { ledger, clock } = this.#parts;
    const name = nameOf(address);
    const { seen } = await ledger.read(address.provider);
    const isNoted = seen.fallen.some(
      (entry) => isSameRelease(entry, name) && entry.reason === reason,
    );
    if (isNoted) return;
    const since = clock.now().toISOString();
    await ledger.noteSeen(address.provider, (before) => ({
      ...before,
      fallen: [
        ...before.fallen.filter((entry) => !isSameRelease(entry, name)),
        { ...name, reason, since },
      ],
    }));
    await this.#audit(address, {
      event: "judged-again",
      verdict: "refused",
      reason,
      detail: message,
    });
  }

  async #record(
    address: ReleaseAddress,
    event: "first-seen" | "replaced" | "judged-again",
    release: Release,
  ): Promise<void> {
    const { signedBy, exemption } = release.checksums;
    await this.#audit(address, {
      event,
      verdict: "accepted",
      detail: `SHA256SUMS ${documentDigest(release)}`,
      fingerprint: signedBy,
      rule: exemption && `signatures: ${exemption}`,
    });
  }

  async #audit(address: ReleaseAddress, entry: AuditEntry): Promise<void> {
    await this.#parts.audit.record(
      { ...factsOf(address), ...entry },
      { durable: true },
    );
  }
}

/** True when releases of the provider were accepted under the key, be it for themselves alone. */
function isBelieved(
  trust: NamespaceTrust,
  type: string,
  fingerprint: string,
): boolean {
  const isIt = (key: Seen["keys"][number]) =>
    key.type === type && key.fingerprint === fingerprint;
  return knownKeys(trust, type).has(fingerprint) || trust.seen.keys.some(isIt);
}

/** Says again why a release is believed no more. */
export function fallenError(
  address: ReleaseAddress,
  reason: string,
): SignatureRefused {
  const detail = `under the keys that its registry publishes now: ${reason}`;
  return new SignatureRefused(formatRelease(address), reason, detail);
}

/** What is offered instead is named by its digest, or by the code of its refusal. */
function isDigest(offered: string): boolean {
  return /^[0-9a-f]{64}$/.test(offered);
}

function nameOf({ provider, version }: ReleaseAddress): ReleaseName {
  return { type: provider.type, version };
}

function factsOf({ provider, version }: ReleaseAddress) {
  return { provider: formatProviderAddress(provider), version };
}
