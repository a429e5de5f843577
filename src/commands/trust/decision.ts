import { NotApprovable } from "../../errors/index.ts";
import type { Version } from "../../address/version.ts";
import {
  revokedKeys,
  type Decisions,
  type NamespaceTrust,
} from "../../mirror/trust/namespace-trust.ts";
import type { TrustLedger } from "../../mirror/trust/ledger.ts";
import type { Namespace } from "../../mirror/trust/ledger-entry.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { AuditLog } from "../../telemetry/audit-log.ts";

/** Whom a key counts for that an operator approves or revokes. */
export type KeyScope = "provider" | "namespace";

export interface TrustParts {
  readonly ledger: TrustLedger;
  readonly audit: AuditLog;
  readonly records: RecordStore;
  /** Who decides, and why. */
  readonly operator: { readonly by: string; readonly why: string | undefined };
  readonly now: () => Date;
  readonly stdout: (text: string) => void;
}

/** The most releases that an error names. */
export const mostNamed = 5;

type KeyDecision = Decisions["keys"][number];

export function withKey(
  keys: readonly KeyDecision[],
  key: KeyDecision,
): KeyDecision[] {
  const others = keys.filter(
    ({ fingerprint, type }) =>
      fingerprint !== key.fingerprint || type !== key.type,
  );
  return [...others, key];
}

export async function recordDecision(
  { audit, operator }: TrustParts,
  event: "approved" | "revoked",
  facts: {
    readonly provider: string;
    readonly version?: Version;
    readonly fingerprint: string | undefined;
    readonly detail?: string;
  },
): Promise<void> {
  const verdict = event === "approved" ? "accepted" : "refused";
  const { by, why } = operator;
  await audit.record(
    { event, verdict, ...facts, operator: by, because: why },
    { durable: true },
  );
}

export function nameScope(
  { hostname, namespace }: Namespace,
  type: string | null,
): string {
  const all = `${hostname}/${namespace}`;
  return type === null ? all : `${all}/${type}`;
}

/** What is revoked for more than is approved would stay refused; with `release` it is that which is approved. Throws NotApprovable. */
export function expectNotRevoked(
  namespace: Namespace,
  type: string,
  trust: NamespaceTrust,
  fingerprint: string,
  release?: string,
): void {
  if (!revokedKeys(trust, type).has(fingerprint)) return;
  const isOwn = trust.decisions.keys.some(
    (key) => key.fingerprint === fingerprint && key.type === type,
  );
  if (isOwn && release === undefined) return;
  throw new NotApprovable(
    release ?? fingerprint,
    `the key ${fingerprint} is revoked`,
    `run "provender trust approve --key ${fingerprint} ${nameScope(namespace, null)}" if it is good again`,
  );
}
