import type { SpecHosts } from "../../address/spec.ts";
import type { ReleaseAddress } from "../../mirror/releases/release.ts";
import type { AdmissionRules } from "../../mirror/trust/admission-rules.ts";
import type { TrustStore } from "../../mirror/trust/trust-store.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { AuditLog } from "../../store/database/audit-log.ts";
import type { AuditEntry } from "../../telemetry/audit-entry.ts";
import { decide, type Decision, forget } from "../../trust/decisions.ts";

/** A content of a release that can be decided on. */
export interface NamedContent {
  /** SHA-256 of its SHA256SUMS; a module's archive or commit. */
  readonly sha256sums: string;
  /** Undefined for an unsigned release, or when that is not known. */
  readonly fingerprint: string | undefined;
}

/** Parts of a command that decides on trust. */
export interface TrustParts {
  readonly stdout: (text: string) => void;
  readonly trust: TrustStore;
  readonly rules: AdmissionRules;
  readonly audit: AuditLog;
  readonly records: RecordStore;
  readonly hosts: SpecHosts;
  /** Asks the origin for a release of a provider: good contents that were not admitted, be it for their age alone. */
  readonly lookUp: (
    release: ReleaseAddress,
  ) => Promise<readonly NamedContent[]>;
  /** Login name of the operator, and the reason. */
  readonly operator: { readonly by: string; readonly why: string | undefined };
  readonly now: () => Date;
}

/** What an operator does with a decision: makes one of two, or takes it back. */
export type Deed = "approve" | "revoke" | "forget";

/** The state behind each; undefined: nothing is decided. */
export const stateAfter = {
  approve: "approved",
  revoke: "revoked",
  forget: undefined,
} as const satisfies Record<Deed, Decision | undefined>;

/** Exit status of a decision that changed nothing, or not all that it names. */
export const touchedNothing = 1;

/** Makes the decision, or takes it back, and writes it into the audit log with these facts, in one transaction. */
export async function carryOut(
  { trust, audit, now, operator: { by, why } }: TrustParts,
  namespace: Parameters<TrustStore["decide"]>[0],
  deed: Deed,
  subject: Parameters<typeof forget>[1],
  facts: Partial<AuditEntry>,
): Promise<void> {
  const decision = stateAfter[deed];
  const decided = { at: now().toISOString(), by, why };
  await trust.decide(
    namespace,
    (decisions) =>
      decision === undefined
        ? forget(decisions, subject)
        : decide(decisions, { ...subject, decision, ...decided }),
    () =>
      audit.record(
        {
          event: decision ?? "forgotten",
          verdict: decision === "revoked" ? "refused" : "accepted",
          ...facts,
          ...{ operator: by, because: why },
        },
        { durable: true },
      ),
  );
}
