import type { SignaturePacket } from "./packets/signature-packet.ts";
import type { PublicKey } from "./packets/key-packet.ts";
import type { SigningKey, UserId } from "./keys/signing-key.ts";

/** Key or subkey that made a signature, with its certificate. */
export interface Issuer {
  readonly certificate: SigningKey;
  readonly key: PublicKey;
  /** Self-signature of the primary key, or the binding of the subkey. */
  readonly selfSignature: SignaturePacket;
  readonly revocations: readonly SignaturePacket[];
}

export type Validity = "ok" | "keyExpired" | "sigExpired";

const keyCompromised = 2;

/**
 * Returns the result of go-crypto's checkMessageSignatureDetails for a
 * signature that verifies; `now` in seconds. The order of the checks is
 * go-crypto's.
 */
export function judgeValidity(
  signature: SignaturePacket,
  issuer: Issuer,
  now: number,
): Validity | "criticalNotation" | "revoked" {
  const { certificate, key, selfSignature } = issuer;
  const primary = findPrimarySelfSignature(certificate);
  const signatures = listDecisive(signature, issuer);
  if (signatures.some((one) => one.hasCriticalNotation))
    return "criticalNotation";
  if (isRevoked(issuer, now)) return "revoked";
  if (isKeyExpired(certificate.primary, primary, now)) return "keyExpired";
  if (isKeyExpired(key, selfSignature, now)) return "keyExpired";
  if (signatures.some((one) => isExpired(one, now))) return "sigExpired";
  return "ok";
}

/** The signature itself, and those on which its key rests. */
export function listDecisive(
  signature: SignaturePacket,
  { certificate, key, selfSignature }: Issuer,
): readonly SignaturePacket[] {
  const ofSubkey =
    key === certificate.primary
      ? []
      : [selfSignature, selfSignature.crossSignature];
  return [signature, findPrimarySelfSignature(certificate), ...ofSubkey].filter(
    (one) => one !== undefined,
  );
}

/** The direct-key signature of a v6 key, the self-signature of the primary user ID of a v4 key. */
export function findPrimarySelfSignature({
  primary,
  directSignature,
  userIds,
}: SigningKey): SignaturePacket | undefined {
  return primary.version === 6
    ? directSignature
    : findPrimaryUserId(userIds)?.selfSignature;
}

/** The least revoked, then one marked as primary, then the newest. */
function findPrimaryUserId(userIds: readonly UserId[]): UserId | undefined {
  return userIds.toSorted(
    (a, b) =>
      a.revocations.length - b.revocations.length ||
      Number(b.selfSignature?.isPrimaryUserId ?? false) -
        Number(a.selfSignature?.isPrimaryUserId ?? false) ||
      (b.selfSignature?.createdAt ?? 0) - (a.selfSignature?.createdAt ?? 0),
  )[0];
}

function isRevoked({ certificate, revocations }: Issuer, now: number): boolean {
  const ofUserId =
    certificate.primary.version === 6
      ? []
      : (findPrimaryUserId(certificate.userIds)?.revocations ?? []);
  return [...certificate.revocations, ...revocations, ...ofUserId].some(
    (one) => one.revocationReason === keyCompromised || !isExpired(one, now),
  );
}

function isKeyExpired(
  key: PublicKey,
  selfSignature: SignaturePacket | undefined,
  now: number,
): boolean {
  return isOutside(key.createdAt, selfSignature?.keyLifetime, now);
}

function isExpired(signature: SignaturePacket, now: number): boolean {
  return isOutside(signature.createdAt, signature.lifetime, now);
}

/** Created in the future, or over; a lifetime of 0 has no end. */
function isOutside(
  createdAt: number,
  lifetime: number | undefined,
  now: number,
): boolean {
  if (createdAt > now) return true;
  return lifetime !== undefined && lifetime > 0 && now > createdAt + lifetime;
}
