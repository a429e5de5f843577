import { redactTickets } from "./logger.ts";

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

/** What is written of an entry, in this order, and nothing else. Nothing of it is a secret: `token` is a token's name. */
export const auditFields = [
  "event",
  "verdict",
  // The address that asked.
  "client",
  "token",
  "requestId",
  // HOSTNAME/NAMESPACE/TYPE.
  "provider",
  // HOSTNAME/NAMESPACE/NAME/SYSTEM.
  "module",
  "version",
  "platform",
  "sha256",
  // Of the primary key that signed.
  "fingerprint",
  // The key of the configuration that decided.
  "rule",
  // The code of the error that was answered.
  "reason",
  "detail",
  // Login name of the operator who decided, and the reason in his words.
  "operator",
  "because",
  "times",
] as const;

/** A decision that may have to be explained later. */
export interface AuditEntry extends Readonly<
  Partial<
    Record<
      Exclude<(typeof auditFields)[number], "event" | "verdict" | "times">,
      string | undefined
    >
  >
> {
  readonly event: AuditEvent;
  /** `reported`: served, though the policy would have refused it. */
  readonly verdict: "accepted" | "refused" | "reported";
}

/** An entry as it was written. */
export interface WrittenEntry extends AuditEntry {
  /** RFC 3339, in UTC. */
  readonly at: string;
  /** Deliveries of a day that are counted in one entry; `at` is the last one's. */
  readonly times?: number | undefined;
}

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
  const values: Record<string, unknown> = { at: at.toISOString() };
  for (const name of auditFields) {
    const value = entry[name];
    const isText = typeof value === "string";
    values[name] = isText ? value.slice(0, longestValue) : value;
  }
  const json = redactTickets(JSON.stringify(values));
  return json.replaceAll(/[\u007f-\uffff]/g, escapeUnit);
}

/** Escapes a unit, so that no foreign text controls a terminal. */
export function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
