import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import {
  formatApproval,
  isModuleType,
  nameContent,
  type ProvenderError,
} from "../../errors/index.ts";
import type { AuditLog } from "../../store/database/audit-log.ts";
import type { AuditEntry } from "../../telemetry/audit-entry.ts";
import { addCandidate, dropCandidates } from "../../trust/candidates.ts";
import type { TrustEvent } from "../../trust/settle.ts";
import { isCandidate } from "../../trust/standing.ts";
import type { Evidence, FirstContact } from "../../trust/state.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import type { TrustStore } from "./trust-store.ts";
import type { PolicyRefusal } from "./admission-rules.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { Clock } from "../cache/clock.ts";

/** A content that people hear of: a module's has no more than its digest. */
export type Told = Pick<Evidence, "sha256sums"> &
  Partial<Pick<Evidence, "signedBy" | "exemption" | "noted">> & {
    /** Why the evidence does not hold. */
    readonly fault?: ProvenderError | undefined;
  };

const durable = { durable: true };

/**
 * Writes down what happens to releases of providers and modules: candidates, the audit log, alarms. It is a part of the
 * transaction that is open; alarms are raised once that counts.
 */
export class TrustEvents {
  readonly #store: TrustStore;
  readonly #notebook: Notebook;

  constructor(store: TrustStore, notebook: Notebook) {
    this.#store = store;
    this.#notebook = notebook;
  }

  async note(address: ReleaseAddress, event: TrustEvent<Told>): Promise<void> {
    const { provider, version } = address;
    const { evidence } = event;
    switch (event.kind) {
      case "pinned": {
        const rule =
          evidence.exemption && (`signatures: ${evidence.exemption}` as const);
        const entry = { event: "first-seen", verdict: "accepted" } as const;
        return this.#record(address, evidence, { ...entry, rule });
      }
      case "accepted":
        return this.#noteAccepted(address, event);
      case "candidate":
        return this.#noteCandidate(address, event);
      case "healed":
        return this.#store.changeCandidates(provider, (candidates) =>
          dropCandidates(candidates, version),
        );
      case "lost": {
        const { code: reason, message: detail } = evidence.fault ?? {};
        const entry = { event: "judged-again", verdict: "refused" } as const;
        return this.#record(address, evidence, { ...entry, reason, detail });
      }
    }
  }

  /** First contact with a provider; `alarms` where its key is a new one of a known namespace. */
  async noteContact(
    address: ProviderAddress,
    { key, newest: version }: FirstContact,
    alarms: boolean,
  ): Promise<void> {
    const provider = formatProviderAddress(address);
    if (key !== undefined) {
      const entry = { event: "new-key", verdict: "accepted" } as const;
      const detail = alarms
        ? "known for this provider alone"
        : "known for its provider, or for its namespace when that was the first";
      const facts = { provider, version, fingerprint: key, detail };
      await this.#notebook.audit.record(
        { ...entry, rule: "trust: first-contact", ...facts },
        durable,
      );
    }
    if (alarms)
      this.#raise("key-new", { provider, version, fingerprint: key ?? "none" });
  }

  /** An offer for a pinned release that is refused by itself; clients keep getting the pinned content. */
  async noteRefusedOffer(
    address: ReleaseAddress,
    { code, message: detail }: ProvenderError,
  ): Promise<void> {
    const entry = { event: "replaced", verdict: "refused" } as const;
    const facts = { ...factsOf(address), rule: "pinned checksums", detail };
    await this.#notebook.audit.record({ ...entry, ...facts }, durable);
    this.#raise("release-replaced", { ...factsOf(address), offered: code });
  }

  async #noteAccepted(
    address: ReleaseAddress,
    event: TrustEvent<Told> & { readonly kind: "accepted" },
  ): Promise<void> {
    const { evidence, because, alarms } = event;
    const { signedBy: fingerprint = "none", sha256sums, noted } = evidence;
    // An approved content is a candidate again when its approval is revoked.
    const { provider, version } = address;
    if (isCandidate(noted) && because !== "approved")
      await this.#store.changeCandidates(provider, (candidates) =>
        dropCandidates(candidates, version, sha256sums),
      );
    const name = because === "approved" ? "replaced" : "new-key";
    const entry = { event: name, verdict: "accepted" } as const;
    // The line of the pin says the others.
    if (alarms || because === "approved" || because === "existed")
      await this.#record(address, evidence, {
        ...entry,
        rule: `trust: ${because}`,
      });
    if (alarms)
      this.#raise("key-new", { ...factsOf(address), fingerprint, because });
  }

  async #noteCandidate(
    address: ReleaseAddress,
    { evidence, reason }: TrustEvent<Told> & { readonly kind: "candidate" },
  ): Promise<void> {
    const { provider, version } = address;
    const { sha256sums, signedBy: fingerprint } = evidence;
    const since = this.#notebook.clock.now().toISOString();
    const candidate = { version, sha256sums, fingerprint, reason, since };
    await this.#store.changeCandidates(provider, (candidates) =>
      addCandidate(candidates, candidate),
    );
    const isOther = reason === "other-content";
    await this.#record(address, evidence, {
      event: isOther ? "replaced" : "quarantined",
      verdict: "refused",
      rule: isOther ? "pinned checksums" : `trust: ${reason}`,
      fingerprint: fingerprint ?? (isOther ? undefined : "none"),
    });
    // The operator who revoked the content needs no alarm, and no one a command that undoes a decision.
    if (reason === "revoked-content") return;
    const approve =
      reason === "revoked" ? undefined : formatApproval(address, sha256sums);
    const named = factsOf(address);
    const other = { offered: sha256sums, approve };
    const facts = { ...named, fingerprint: fingerprint ?? "none" };
    if (isModuleType(provider.type))
      this.#raise("module-replaced", { ...named, ...other });
    else if (isOther) this.#raise("release-replaced", { ...facts, ...other });
    else this.#raise("key-refused", { ...facts, reason, approve });
  }

  async #record(
    address: ReleaseAddress,
    { sha256sums, signedBy: fingerprint }: Told,
    entry: AuditEntry,
  ): Promise<void> {
    const detail = nameContent(address, sha256sums);
    const facts = { detail, fingerprint, ...entry, ...factsOf(address) };
    await this.#notebook.audit.record(facts, durable);
  }

  #raise(...alarm: Parameters<Notebook["alarms"]["raise"]>): void {
    this.#store.whenCommitted(() => this.#notebook.alarms.raise(...alarm));
  }
}

/** Outputs for events of keys and releases, beside the ledger. */
export interface Notebook {
  readonly audit: AuditLog;
  readonly alarms: Alarms;
  readonly clock: Clock;
  /** Hears of each request that a policy which only reports would have refused. */
  readonly onReported?: (error: PolicyRefusal) => void;
}

/** A line for each request, as for one that is served. */
export function noteReported(
  { audit, onReported }: Notebook,
  error: PolicyRefusal,
): void {
  const { provider, version, rule, code: reason, message: detail } = error;
  const facts = { ...subjectOf(provider), version, rule, reason, detail };
  const entry = { event: "refused", verdict: "reported", ...facts } as const;
  void audit.record(entry, { durable: false });
  onReported?.(error);
}

/** Names the release as alarms and the audit log do. */
function factsOf({ provider, version }: ReleaseAddress) {
  return { ...subjectOf(formatProviderAddress(provider)), version };
}

/** Names a provider or module as they do: the name of a module has one part more. */
export function subjectOf(name: string) {
  return name.split("/").length > 3 ? { module: name } : { provider: name };
}
