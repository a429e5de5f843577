import { redactTickets } from "./logger.ts";

/** A decision that may have to be explained later. Nothing in it is a secret: `token` is a token's name. */
export interface AuditEntry {
  readonly event: AuditEvent;
  /** `reported`: served, though the policy would have refused it. */
  readonly verdict: "accepted" | "refused" | "reported";
  /** The address that asked. */
  readonly client?: string | undefined;
  /** The name of the token that was presented. */
  readonly token?: string | undefined;
  readonly requestId?: string | undefined;
  /** HOSTNAME/NAMESPACE/TYPE. */
  readonly provider?: string | undefined;
  /** HOSTNAME/NAMESPACE/NAME/SYSTEM. */
  readonly module?: string | undefined;
  readonly version?: string | undefined;
  /** OS_ARCH. */
  readonly platform?: string | undefined;
  readonly sha256?: string | undefined;
  /** Fingerprint of the primary key that signed. */
  readonly fingerprint?: string | undefined;
  /** The key of the configuration that decided. */
  readonly rule?: string | undefined;
  /** The code of the error that was answered. */
  readonly reason?: string | undefined;
  readonly detail?: string | undefined;
  /** Login name of the operator who decided. */
  readonly operator?: string | undefined;
  /** Reason in the operator's words. */
  readonly because?: string | undefined;
}

/** An entry as it was written. */
export interface WrittenEntry extends AuditEntry {
  /** RFC 3339, in UTC. */
  readonly at: string;
  /** Deliveries of a day that are counted in one entry; `at` is the last one's. */
  readonly times?: number | undefined;
}

export const auditEvents = [
  "refused",
  "first-seen",
  /** An archive, to its last byte. */
  "served",
  /** An archive of which the client got a part. */
  "cut",
  /** The origin offers other bytes than the first that were seen. */
  "replaced",
  "new-key",
  "quarantined",
  "approved",
  "revoked",
  /** A decision was taken back. */
  "forgotten",
  /** Versions that an index does not have because of the rules or the keys. */
  "left-out",
  /** A kept verdict was renewed, because the keys or the profile changed. */
  "judged-again",
] as const;

export type AuditEvent = (typeof auditEvents)[number];

/** Only these fields are written, in this order. */
export const auditFields = [
  "event",
  "verdict",
  "client",
  "token",
  "requestId",
  "provider",
  "module",
  "version",
  "platform",
  "sha256",
  "fingerprint",
  "rule",
  "reason",
  "detail",
  "operator",
  "because",
  "times",
] as const satisfies readonly (keyof WrittenEntry)[];

/** UTF-16 code units of a value; what is longer is cut. */
const longestValue = 1024;

/**
 * Formats a JSON object in one line of ASCII. So no value can end the line,
 * control a terminal or change the direction of text.
 */
export function formatAuditEntry(
  entry: Omit<WrittenEntry, "at">,
  at: Date,
): string {
  const values = auditFields.map((name) => {
    const value = entry[name];
    const isText = typeof value === "string";
    return [name, isText ? value.slice(0, longestValue) : value];
  });
  const json = redactTickets(
    JSON.stringify({ at: at.toISOString(), ...Object.fromEntries(values) }),
  );
  return json.replaceAll(/[\u007f-\uffff]/g, escapeUnit);
}

/** Escapes a unit, so that no foreign text controls a terminal. */
export function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
