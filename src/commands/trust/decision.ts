import type { SpecHosts } from "../../address/specs/spec.ts";
import type { AdmissionRules } from "../../mirror/trust/admission-rules.ts";
import type { TrustStore } from "../../mirror/trust/trust-store.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { AuditLog } from "../../telemetry/audit-log.ts";
import type { Decided } from "../../trust/decisions.ts";
import type { Output } from "../output/report.ts";

/** Parts of a command that decides on trust. */
export interface TrustParts extends Output {
  readonly trust: TrustStore;
  readonly rules: AdmissionRules;
  readonly audit: AuditLog;
  readonly records: RecordStore;
  readonly hosts: SpecHosts;
  /** Login name of the operator, and the reason. */
  readonly operator: { readonly by: string; readonly why: string | undefined };
  readonly now: () => Date;
}

/** Writes a decision into the audit log. Durable on return. */
export async function recordDecision(
  { audit, operator: { by, why } }: TrustParts,
  event: "approved" | "revoked" | "reset",
  facts: {
    readonly provider?: string;
    readonly module?: string;
    readonly version?: string | undefined;
    readonly fingerprint?: string | undefined;
    readonly detail?: string;
  },
): Promise<void> {
  const verdict = event === "approved" ? "accepted" : "refused";
  await audit.record(
    { event, verdict, ...facts, operator: by, because: why },
    { durable: true },
  );
}

export function decidedNow({ now, operator }: TrustParts): Decided {
  return { at: now().toISOString(), ...operator };
}

/** Exit status of a decision that changed nothing, or not all that it names. */
export const touchedNothing = 1;
