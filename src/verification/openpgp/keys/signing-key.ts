import { failure } from "../../../errors/index.ts";
import type { PublicKey } from "../packets/key-packet.ts";
import type { SignaturePacket } from "../packets/signature-packet.ts";

/** Upper-case hexadecimal fingerprint of a primary key or subkey: 40 digits (v4) or 64 (v6). */
export type Fingerprint = string & { readonly __brand: "fingerprint" };

/** Full fingerprints only, in either case, with or without blanks; throws malformed-address. */
export function parseFingerprint(text: string): Fingerprint {
  const digits = text.replaceAll(" ", "").toUpperCase();
  if (!/^(?:[0-9A-F]{40}|[0-9A-F]{64})$/.test(digits))
    throw failure(
      "malformed-address",
      "fingerprint",
      text,
      "40 or 64 hexadecimal digits, all of the primary key's fingerprint",
    );
  return digits as Fingerprint;
}

/** An OpenPGP certificate whose own signatures have all been verified. */
export interface SigningKey {
  readonly primary: PublicKey;
  readonly revocations: readonly SignaturePacket[];
  /** Those with a verified signature of the primary, in the order of the block. */
  readonly userIds: readonly UserId[];
  readonly subkeys: readonly Subkey[];
  /** v6 only: the newest direct-key self-signature. */
  readonly directSignature: SignaturePacket | undefined;
}

export interface UserId {
  /** Absent when the user ID has nothing but a revocation. */
  readonly selfSignature: SignaturePacket | undefined;
  readonly revocations: readonly SignaturePacket[];
}

export interface Subkey {
  readonly key: PublicKey;
  /** The newest binding signature. */
  readonly binding: SignaturePacket;
  readonly revocations: readonly SignaturePacket[];
}
