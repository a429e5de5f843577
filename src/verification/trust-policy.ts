import type { Fingerprint } from "./openpgp/keys/signing-key.ts";

/** What `trust.newKeys` says of a key not seen before for a namespace that has one. */
export type NewKeys = "accept" | "accept-first" | "refuse";

/** Who signed a release, and what the mirror knew before. */
export interface KeyQuestion {
  readonly newKeys: NewKeys;
  /** Of the primary key; undefined for a release that nobody signed. */
  readonly signedBy: Fingerprint | undefined;
  readonly signedAt: Date | undefined;
  /** The fingerprints that the configuration pins for this provider; undefined when it pins none. */
  readonly pins: ReadonlySet<string> | undefined;
  /** Keys that new releases of this provider may be signed with. */
  readonly known: ReadonlySet<string>;
  /** Keys that an operator revoked for this provider. */
  readonly revoked: ReadonlySet<string>;
  /** False while nothing tells who should sign: nobody signed the newest release at first contact, or there was none. */
  readonly isContinued: boolean;
  /** An operator approved this very content under this key. */
  readonly approved: boolean;
  /** It was accepted under a known key before, and signed anew by this one with the same digests. */
  readonly signedAnew: boolean;
  /** When the mirror first saw the provider's list, if this version was in it and was not signed anew since. Such a release is believed for itself alone. */
  readonly firstContact: Date | undefined;
}

export type KeyVerdict =
  | {
      readonly accepted: true;
      readonly because:
        | "pinned"
        | "known"
        | "approved"
        | "resigned"
        | "first-contact"
        | "first-key"
        | "new";
    }
  | {
      readonly accepted: false;
      readonly because: "revoked" | "not-pinned" | "unknown";
    };

/**
 * Is this key acceptable for this release? Pins are exclusive: where the
 * configuration names keys for a provider, no other key is taken. Otherwise
 * continuity from first contact on: what the origin listed then and had signed
 * before is believed under any key; what comes later needs a key that is known
 * for its provider. Where keys are known, nothing unsigned comes after.
 */
export function decideKey(question: KeyQuestion): KeyVerdict {
  const { pins, known, revoked, newKeys } = question;
  if (isSignedByOneOf(revoked, question))
    return { accepted: false, because: "revoked" };
  if (pins !== undefined && isSignedByOneOf(pins, question))
    return { accepted: true, because: "pinned" };
  if (pins !== undefined || newKeys === "refuse")
    return { accepted: false, because: "not-pinned" };
  if (isSignedByOneOf(known, question))
    return { accepted: true, because: "known" };
  if (question.approved) return { accepted: true, because: "approved" };
  if (question.signedAnew) return { accepted: true, because: "resigned" };
  if (isOfFirstContact(question))
    return { accepted: true, because: "first-contact" };
  if (known.size === 0 && !question.isContinued)
    return { accepted: true, because: "first-key" };
  return newKeys === "accept"
    ? { accepted: true, because: "new" }
    : { accepted: false, because: "unknown" };
}

function isSignedByOneOf(
  keys: ReadonlySet<string>,
  { signedBy }: KeyQuestion,
): boolean {
  return signedBy !== undefined && keys.has(signedBy);
}

function isOfFirstContact({ firstContact, signedAt }: KeyQuestion): boolean {
  if (firstContact === undefined) return false;
  return signedAt === undefined || signedAt <= firstContact;
}
