import { formatProviderAddress } from "../../address/provider-address.ts";
import type { Sha256 } from "../../address/hash.ts";
import { SignatureRefused } from "../../errors/index.ts";
import type { AuditEntry } from "../../telemetry/audit-log.ts";
import {
  findFall,
  isApprovedReplacement,
  isSameRelease,
  knownKeys,
  writeOffered,
  type NamespaceTrust,
  type ReleaseName,
  type Seen,
} from "./namespace-trust.ts";
import {
  documentDigest,
  findContradiction,
  replacedBy,
  type Change,
  type Continuity,
  type Contradiction,
  type Standing,
} from "../releases/continuity.ts";
import {
  formatRelease,
  type Release,
  type ReleaseAddress,
} from "../releases/release.ts";
import { listChangedReports } from "../releases/reported-hashes.ts";
import { findNewSigner, isGood } from "./key-question.ts";
import type { LedgerEntry } from "./ledger-entry.ts";
import type { Notebook } from "./notebook.ts";

/** A release and the entry of its namespace. */
interface NotedRelease {
  readonly address: ReleaseAddress;
  readonly entry: LedgerEntry;
}

type Replaced = Change & { readonly kind: "replaced" };

/** What was decided on a release before it is asked for again. */
export function standingOf(
  trust: NamespaceTrust,
  address: ReleaseAddress,
): Standing {
  const name = nameOf(address);
  const fall = findFall(trust, name);
  const anewBy = findNewSigner(trust, name)?.fingerprint;
  const isKnown = knownKeys(trust, name.type).has(anewBy ?? "");
  return {
    isApproved: (digest, signedBy) =>
      isApprovedReplacement(trust, name, writeOffered({ digest, signedBy })),
    fallen: fall && fallenError(address, fall.reason),
    signedAnewBy: isKnown ? undefined : anewBy,
  };
}

/** True between an operator's approval of other content and its arrival. */
export function awaitsReplacement(
  trust: NamespaceTrust,
  address: ReleaseAddress,
): boolean {
  const name = nameOf(address);
  return trust.seen.replaced.some(
    (entry) =>
      isSameRelease(entry, name) && isApprovedReplacement(trust, name, entry),
  );
}

/** Writes down what happens to releases: first seen, offered anew with other content, replaced by an operator's word, fallen with its keys. */
export class ReleaseHistory {
  readonly #notebook: Notebook;

  constructor(notebook: Notebook) {
    this.#notebook = notebook;
  }

  /** On disk before the release is answered with. */
  async note(
    { address, entry }: NotedRelease,
    known: Release | undefined,
    { release, change, fallen }: Continuity,
  ): Promise<void> {
    if (known === undefined && change.kind === "none")
      await this.#record(address, "first-seen", release);
    if (change.kind === "approved")
      await this.#record(address, "replaced", release);
    if (change.kind === "signed-anew")
      await this.#noteSignedAnew({ address, entry }, release, change.before);
    if (change.kind === "replaced")
      await this.#noteReplaced({ address, entry }, change);
    if (known !== undefined) this.#alarmOfReports(address, known, release);
    await this.#forget(
      { address, entry },
      {
        replaced: change.kind !== "replaced",
        fallen: fallen === undefined,
      },
    );
    if (fallen !== undefined)
      await this.#noteFallen({ address, entry }, fallen);
  }

  /** First seen wins: what contradicts the digests that were seen first, by file name, without an operator's approval. It is on disk by then. */
  async noteContradiction(
    { address, entry }: NotedRelease,
    release: Release,
    first: ReadonlyMap<string, Sha256>,
  ): Promise<Contradiction | undefined> {
    const found = findContradiction(address, first, release);
    const { isApproved, fallen } = standingOf(entry.trust, address);
    const { signedBy } = release.checksums;
    if (found === undefined || isApproved(documentDigest(release), signedBy))
      return undefined;
    const change = replacedBy(release);
    // What it offers instead says nothing of why the first one fell.
    await this.note({ address, entry }, release, { release, change, fallen });
    return found;
  }

  /** Of what the origin reports beside its checksums; each change once. */
  #alarmOfReports(
    address: ReleaseAddress,
    known: Release,
    { reported }: Release,
  ): void {
    for (const changed of listChangedReports(known.reported, reported))
      this.#notebook.alarms.raise("package-hash-conflict", {
        ...factsOf(address),
        ...changed,
      });
  }

  /** The origin offers the believed content again, or its keys let it stand again. */
  async #forget(
    { address, entry }: NotedRelease,
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
    const { seen } = entry.trust;
    const rest = without(seen);
    if (
      rest.replaced.length < seen.replaced.length ||
      rest.fallen.length < seen.fallen.length
    )
      await entry.noteSeen(without);
  }

  /** Unless the key that signed before was not good itself, the new one is believed for this release. */
  async #noteSignedAnew(
    { address, entry: ledger }: NotedRelease,
    release: Release,
    before: string,
  ): Promise<void> {
    const { clock } = this.#notebook;
    const { trust } = ledger;
    const fingerprint = release.checksums.signedBy;
    if (fingerprint === undefined) return;
    const name = nameOf(address);
    const wasGood = isGood(trust, name, before);
    const since = clock.now().toISOString();
    const entry = { ...name, fingerprint, since };
    await ledger.noteSeen((seen) => ({
      ...seen,
      resigned: [
        ...seen.resigned.filter((one) => !isSameRelease(one, name)),
        wasGood ? entry : { ...entry, unvouched: true },
      ],
    }));
    if (wasGood) await this.#record(address, "judged-again", release);
  }

  async #noteReplaced(
    { address, entry: ledger }: NotedRelease,
    { offered }: Replaced,
  ): Promise<void> {
    const { alarms, clock } = this.#notebook;
    const name = nameOf(address);
    const written = writeOffered(offered);
    const { seen } = ledger.trust;
    const isNoted = seen.replaced.some(
      (entry) =>
        isSameRelease(entry, name) &&
        entry.offered === written.offered &&
        entry.fingerprint === written.fingerprint,
    );
    if (isNoted) return;
    const since = clock.now().toISOString();
    await ledger.noteSeen((before) => ({
      ...before,
      replaced: [
        ...before.replaced.filter((entry) => !isSameRelease(entry, name)),
        { ...name, ...written, since },
      ],
    }));
    await this.#audit(address, {
      event: "replaced",
      verdict: "refused",
      rule: "first seen wins",
      detail:
        "digest" in offered ? `SHA256SUMS ${offered.digest}` : offered.refused,
      fingerprint: written.fingerprint ?? undefined,
    });
    alarms.raise("release-replaced", {
      ...factsOf(address),
      offered: written.offered,
    });
  }

  async #noteFallen(
    { address, entry: ledger }: NotedRelease,
    { reason, message }: SignatureRefused,
  ): Promise<void> {
    const { clock } = this.#notebook;
    const name = nameOf(address);
    const { seen } = ledger.trust;
    const isNoted = seen.fallen.some(
      (entry) => isSameRelease(entry, name) && entry.reason === reason,
    );
    if (isNoted) return;
    const since = clock.now().toISOString();
    await ledger.noteSeen((before) => ({
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
    await this.#notebook.audit.record(
      { ...factsOf(address), ...entry },
      { durable: true },
    );
  }
}

/** Says again why a release is believed no more. */
export function fallenError(
  address: ReleaseAddress,
  reason: string,
): SignatureRefused {
  const detail = `under the keys that its registry publishes now: ${reason}`;
  return new SignatureRefused(formatRelease(address), reason, detail);
}

function nameOf({ provider, version }: ReleaseAddress): ReleaseName {
  return { type: provider.type, version };
}

function factsOf({ provider, version }: ReleaseAddress) {
  return { provider: formatProviderAddress(provider), version };
}
