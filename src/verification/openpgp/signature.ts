import { findSignature, type Signed } from "./document.ts";
import { sha1 } from "./packets/algorithms.ts";
import { Arithmetic } from "./packets/arithmetic.ts";
import { checkQuestionSize } from "./packets/limits.ts";
import {
  formatRefusal,
  Refused,
  type SignatureRefusalReason,
} from "./packets/refusal.ts";
import { judgeValidity, listDecisive, type Validity } from "./validity.ts";
import { readSigningKeys } from "./keys/reading.ts";
import type { Fingerprint } from "./keys/signing-key.ts";

export type { SignatureRefusalReason } from "./packets/refusal.ts";
export type { Fingerprint } from "./keys/signing-key.ts";

/**
 * Client whose decision is reproduced: Terraform, OpenTofu, OpenTofu set to
 * enforce expiry. "strict" is a stricter decision of our own.
 */
export type SignatureProfile = "terraform" | "opentofu" | "enforce" | "strict";

/** Plain data, as is the decision: both cross between threads. */
export interface SignatureQuestion {
  readonly document: Uint8Array;
  /** Binary, detached. */
  readonly signature: Uint8Array;
  /** Armored key blocks, in the registry's order. */
  readonly keys: readonly string[];
  readonly profile: SignatureProfile;
  readonly now: Date;
}

interface SignatureAccepted {
  readonly accepted: true;
  /** Fingerprint of the primary key. */
  readonly signedBy: Fingerprint;
  /** Fingerprint of the primary key or subkey that made the signature. */
  readonly signingKey: Fingerprint;
  /** Creation time in the signature. */
  readonly createdAt: Date;
  readonly validity: Validity;
  readonly warning: string | undefined;
}

export type SignatureDecision =
  | SignatureAccepted
  | {
      readonly accepted: false;
      readonly reason: SignatureRefusalReason;
      readonly detail: string;
    };

const expiredKey = "its signing key has expired or is dated in the future";
const expiredSignature =
  "it, or a signature that its key rests on, has expired or is dated in the future";
const warnings: Readonly<Record<Validity, string | undefined>> = {
  ok: undefined,
  keyExpired: `The signature was accepted although ${expiredKey}.`,
  sigExpired: `The signature was accepted although ${expiredSignature}.`,
};

/**
 * Decides as the clients do with go-crypto's CheckDetachedSignature (v1 API, no configuration). Never throws on account of
 * what it is given; takes as long as the arithmetic takes (SignatureThreads bounds it).
 */
export function decideSignature(
  question: SignatureQuestion,
): SignatureDecision {
  try {
    checkQuestionSize(question);
    return tryKeys(question);
  } catch (error) {
    return formatRefusal(error);
  }
}

/**
 * Tries keys in the registry's order. A key block is read only when those
 * before it have not decided.
 */
function tryKeys(question: SignatureQuestion): SignatureDecision {
  const { document, signature, profile } = question;
  const arithmetic = new Arithmetic();
  let expired: SignatureAccepted | undefined;
  for (const armored of question.keys) {
    const keys = readSigningKeys(armored, trimsArmor(profile), arithmetic);
    const signed = findSignature(signature, keys, document, arithmetic);
    if (!signed) continue;
    const verdict = judge(signed, question);
    if (verdict.validity === "ok") return verdict;
    expired ??= verdict;
    // Terraform stops at the first key that made the signature; OpenTofu looks for one that has not expired.
    if (profile === "terraform") break;
  }
  if (!expired)
    throw new Refused(
      "unknown-issuer",
      "no signing key of the registry made it",
    );
  return settleExpired(expired, profile);
}

function settleExpired(
  expired: SignatureAccepted,
  profile: SignatureProfile,
): SignatureAccepted {
  const { validity } = expired;
  const isAccepted =
    profile === "opentofu" ||
    (profile === "terraform" && validity === "keyExpired");
  if (!isAccepted && validity === "keyExpired")
    throw new Refused("key-expired", expiredKey);
  if (!isAccepted) throw new Refused("signature-expired", expiredSignature);
  return expired;
}

function judge(signed: Signed, question: SignatureQuestion): SignatureAccepted {
  const { signature, issuer } = signed;
  const now = Math.floor(question.now.getTime() / 1000);
  const validity = judgeValidity(signature, issuer, now);
  if (validity === "criticalNotation")
    throw new Refused(
      "critical-notation",
      "it, or a signature that its key rests on, has a critical notation that is not known",
    );
  if (validity === "revoked")
    throw new Refused("revoked", "its signing key or user ID is revoked");
  if (question.profile === "strict") expectStrong(signed);
  return {
    accepted: true,
    signedBy: issuer.certificate.primary.fingerprint as Fingerprint,
    signingKey: issuer.key.fingerprint as Fingerprint,
    createdAt: new Date(signature.createdAt * 1000),
    validity,
    warning: warnings[validity],
  };
}

/**
 * Requires strong algorithms in everything that the decision rests on. Throws
 * Refused.
 */
function expectStrong({ signature, issuer }: Signed): void {
  if (listDecisive(signature, issuer).some(({ hash }) => hash === sha1))
    throw new Refused("weak", "SHA-1 is not accepted under strict");
  for (const { algorithm, numbers } of [
    issuer.certificate.primary,
    issuer.key,
  ]) {
    if (algorithm === 17)
      throw new Refused("weak", "DSA is not accepted under strict");
    const bits = numbers[0]?.bits ?? Infinity;
    if (bits < 2047)
      throw new Refused(
        "weak",
        `RSA of ${bits} bits is not accepted under strict`,
      );
  }
}

/** Terraform's go-crypto is 1.1.3, OpenTofu's 1.4. */
function trimsArmor(profile: SignatureProfile): boolean {
  return profile === "opentofu" || profile === "enforce";
}
