import type { Fingerprint } from "./signing-key.ts";

/** What `trust.newKeys` says of a key not seen before for a namespace that has one. */
export type NewKeys = "accept" | "accept-first" | "refuse";

/** Who signed a release, and what the mirror knew before. */
export interface KeyQuestion {
  readonly newKeys: NewKeys;
  readonly signedBy: Fingerprint;
  readonly signedAt: Date;
  /** The fingerprints that the configuration pins for this provider; undefined when it pins none. */
  readonly pins: ReadonlySet<string> | undefined;
  /** Keys that releases of this namespace were accepted under, or that an operator approved. */
  readonly known: ReadonlySet<string>;
  /** Keys that an operator revoked for this namespace. */
  readonly revoked: ReadonlySet<string>;
  /** An operator approved this very release. */
  readonly approved: boolean;
  /** When the mirror first saw the provider's list, if this version was in it. */
  readonly firstContact: Date | undefined;
}

export type KeyVerdict =
  | {
      readonly accepted: true;
      readonly because:
        "pinned" | "known" | "approved" | "first-contact" | "first-key" | "new";
    }
  | {
      readonly accepted: false;
      readonly because: "revoked" | "not-pinned" | "unknown";
    };

/**
 * Is this key acceptable for this release? Pins are exclusive: where the
 * configuration names keys for a provider, no other key is taken. Otherwise
 * continuity from first contact on: what the origin listed then and had signed
 * before is believed under any key, what comes later needs a key known by then.
 */
export function decideKey(question: KeyQuestion): KeyVerdict {
  const { signedBy, pins, known, revoked, newKeys } = question;
  if (revoked.has(signedBy)) return { accepted: false, because: "revoked" };
  if (pins?.has(signedBy)) return { accepted: true, because: "pinned" };
  if (pins !== undefined || newKeys === "refuse")
    return { accepted: false, because: "not-pinned" };
  if (known.has(signedBy)) return { accepted: true, because: "known" };
  if (question.approved) return { accepted: true, because: "approved" };
  if (isOfFirstContact(question))
    return { accepted: true, because: "first-contact" };
  if (known.size === 0) return { accepted: true, because: "first-key" };
  return newKeys === "accept"
    ? { accepted: true, because: "new" }
    : { accepted: false, because: "unknown" };
}

function isOfFirstContact({ firstContact, signedAt }: KeyQuestion): boolean {
  return firstContact !== undefined && signedAt <= firstContact;
}
