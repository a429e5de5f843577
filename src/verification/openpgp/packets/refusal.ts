/** Reason for not accepting a signature. */
export type SignatureRefusalReason =
  | "unknown-issuer"
  | "unreadable-signature"
  | "bad-signature"
  | "critical-notation"
  | "revoked"
  | "key-expired"
  | "signature-expired"
  | "unreadable-key"
  | "unusable-key"
  | "weak"
  | "limits";

/** Ends the whole decision; never leaves decideSignature. */
export class Refused extends Error {
  readonly reason: SignatureRefusalReason;
  constructor(reason: SignatureRefusalReason, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/** Converts a Refused to its decision, and throws every other error again. */
export function formatRefusal(error: unknown): {
  readonly accepted: false;
  readonly reason: SignatureRefusalReason;
  readonly detail: string;
} {
  if (!(error instanceof Refused)) throw error;
  return { accepted: false, reason: error.reason, detail: error.message };
}

/**
 * Thrown for bytes that end early or are ambiguous: everything around them is
 * unreadable too.
 */
export class Unreadable extends Error {}

/** Thrown for an invalid packet: its key is unusable, other keys are not. */
export class Malformed extends Error {}

/** A well-formed packet that go-crypto does not know: it is as if it were not there. */
export class Unsupported extends Error {}
