import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  formatApproval,
  nameContent,
  type ProvenderError,
} from "../../errors/index.ts";
import type { AuditEntry } from "../../telemetry/audit-log.ts";
import { addCandidate, dropCandidates } from "../../trust/candidates.ts";
import type { TrustEvent } from "../../trust/settle.ts";
import { isCandidate } from "../../trust/standing.ts";
import type { Acceptance, Evidence, FirstContact } from "../../trust/state.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import type { Notebook } from "./notebook.ts";
import type { ProviderRequest } from "./request.ts";
import { factsOf, nameSubject, type Subject } from "./subject.ts";
import type { TrustStore } from "./trust-store.ts";

/** Evidence, and why it does not hold. */
interface Judged extends Evidence {
  readonly fault?: ProvenderError | undefined;
}

type Event = TrustEvent<Judged>;

/** Acceptances that need no line of their own beside that of the pin. */
const silent: ReadonlySet<Acceptance> = new Set([
  "known",
  "configured",
  "signatures-off",
  "unsigned",
]);

/** Writes down what happens to releases: candidates, the audit log, alarms. */
export class TrustEvents {
  readonly #store: TrustStore;
  readonly #notebook: Notebook;

  constructor(store: TrustStore, notebook: Notebook) {
    this.#store = store;
    this.#notebook = notebook;
  }

  /** Resolves when it is durable; rejects when it could not be written. */
  async note(address: Subject, event: Event): Promise<void> {
    const { provider, version } = nameSubject(address);
    switch (event.kind) {
      case "pinned":
        return this.#audit(address, "first-seen", event.evidence);
      case "accepted":
        return this.#noteAccepted(address, event);
      case "candidate":
        return this.#noteCandidate(address, event);
      case "healed":
        return this.#store.changeCandidates(provider, (candidates) =>
          dropCandidates(candidates, version),
        );
      case "lost":
        return this.#noteLost(address, event.evidence);
    }
  }

  /** First contact with a provider; `alarms` where its key is a new one of a known namespace. */
  async noteContact(
    { provider }: ProviderRequest,
    { key, newest }: FirstContact,
    alarms: boolean,
  ): Promise<void> {
    const subject = formatProviderAddress(provider);
    const facts = { provider: subject, version: newest, fingerprint: key };
    if (key !== undefined)
      await this.#notebook.audit.record(
        {
          event: "new-key",
          verdict: "accepted",
          rule: "trust: first-contact",
          detail: alarms
            ? "known for this provider alone"
            : "known for its provider, or for its namespace when that was the first",
          ...facts,
        },
        { durable: true },
      );
    if (alarms)
      this.#raise("key-new", { ...facts, fingerprint: key ?? "none" });
  }

  /** Raises that the first contact counts in place of one that an operator had forgotten. */
  raiseReset({ provider }: ProviderRequest, { key }: FirstContact): void {
    const facts = { provider: formatProviderAddress(provider) };
    this.#raise("trust-reset", { ...facts, fingerprint: key ?? "none" });
  }

  /** An offer for a pinned release that is refused by itself; clients keep getting the pinned content. */
  async noteRefusedOffer(
    address: ReleaseAddress,
    { code, message: detail }: ProvenderError,
  ): Promise<void> {
    const entry = { event: "replaced", verdict: "refused" } as const;
    const facts = factsOf(address);
    const rule = "pinned checksums";
    await this.#notebook.audit.record(
      { ...entry, ...facts, rule, detail },
      { durable: true },
    );
    this.#raise("release-replaced", { ...facts, offered: code });
  }

  async #noteAccepted(
    address: Subject,
    { evidence, because, alarms }: Event & { readonly kind: "accepted" },
  ): Promise<void> {
    const { signedBy: fingerprint, sha256sums, noted } = evidence;
    // An approved content is a candidate again when its approval is revoked.
    const { provider, version } = nameSubject(address);
    if (isCandidate(noted) && because !== "approved")
      await this.#store.changeCandidates(provider, (candidates) =>
        dropCandidates(candidates, version, sha256sums),
      );
    const rule = `trust: ${because}`;
    if (!silent.has(because) || alarms)
      await this.#audit(
        address,
        because === "approved" ? "replaced" : "new-key",
        evidence,
        { rule },
      );
    const facts = { ...factsOf(address), fingerprint: fingerprint ?? "none" };
    if (alarms) this.#raise("key-new", { ...facts, because });
  }

  async #noteCandidate(
    address: Subject,
    { evidence, reason }: Event & { readonly kind: "candidate" },
  ): Promise<void> {
    const named = nameSubject(address);
    const { provider, version } = named;
    const { sha256sums, signedBy: fingerprint } = evidence;
    const since = this.#notebook.clock.now().toISOString();
    await this.#store.changeCandidates(provider, (candidates) =>
      addCandidate(candidates, {
        ...{ version, sha256sums, fingerprint, reason, since },
      }),
    );
    const isOther = reason === "other-content";
    await this.#notebook.audit.record(
      {
        event: isOther ? "replaced" : "quarantined",
        verdict: "refused",
        rule: isOther ? "pinned checksums" : `trust: ${reason}`,
        detail: nameContent(named, sha256sums),
        fingerprint: fingerprint ?? (isOther ? undefined : "none"),
        ...factsOf(address),
      },
      { durable: true },
    );
    const approve = formatApproval(named, sha256sums);
    if ("module" in address) {
      const facts = { ...factsOf(address), offered: sha256sums, approve };
      this.#raise("module-replaced", facts);
      return;
    }
    const facts = { ...factsOf(address), fingerprint: fingerprint ?? "none" };
    if (isOther)
      this.#raise("release-replaced", {
        ...{ ...facts, offered: sha256sums, approve },
      });
    else this.#raise("key-refused", { ...facts, reason, approve });
  }

  async #noteLost(
    address: Subject,
    { fault, signedBy: fingerprint }: Judged,
  ): Promise<void> {
    await this.#notebook.audit.record(
      {
        event: "judged-again",
        verdict: "refused",
        reason: fault?.code,
        detail: fault?.message,
        fingerprint,
        ...factsOf(address),
      },
      { durable: true },
    );
  }

  async #audit(
    address: Subject,
    event: AuditEntry["event"],
    { sha256sums, signedBy: fingerprint, exemption }: Evidence,
    more: Pick<AuditEntry, "rule"> = {
      rule: exemption && `signatures: ${exemption}`,
    },
  ): Promise<void> {
    await this.#notebook.audit.record(
      {
        event,
        verdict: "accepted",
        detail: nameContent(nameSubject(address), sha256sums),
        fingerprint,
        ...more,
        ...factsOf(address),
      },
      { durable: true },
    );
  }

  #raise(...alarm: Parameters<Notebook["alarms"]["raise"]>): void {
    this.#notebook.alarms.raise(...alarm);
  }
}
