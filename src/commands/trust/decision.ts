import type { SpecHosts } from "../../address/specs/spec.ts";
import type { ReleaseAddress } from "../../mirror/releases/release.ts";
import type { AdmissionRules } from "../../mirror/trust/admission-rules.ts";
import type { TrustStore } from "../../mirror/trust/trust-store.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { AuditLog } from "../../store/database/audit-log.ts";
import type { Decided, Decision } from "../../trust/decisions.ts";

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

/** Writes a decision into the audit log. Durable on return. */
export async function recordDecision(
  { audit, operator: { by, why } }: TrustParts,
  event: "approved" | "revoked" | "forgotten",
  facts: {
    readonly provider?: string;
    readonly module?: string;
    readonly version?: string | undefined;
    readonly fingerprint?: string | undefined;
    readonly detail?: string;
  },
): Promise<void> {
  const isOf = event === "approved" || event === "forgotten";
  const verdict = isOf ? "accepted" : "refused";
  await audit.record(
    { event, verdict, ...facts, operator: by, because: why },
    { durable: true },
  );
}

export function decidedNow({ now, operator }: TrustParts): Decided {
  return { at: now().toISOString(), ...operator };
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
