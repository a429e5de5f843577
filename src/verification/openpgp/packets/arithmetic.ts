import { createHash, createVerify, verify, type KeyObject } from "node:crypto";
import { hashes } from "./algorithms.ts";
import { padZeros, trimZeros } from "./bytes.ts";
import { curves } from "./curves.ts";
import { checkKeySize, signatureLimits } from "./limits.ts";
import { Refused } from "./refusal.ts";
import { importKey } from "./spki.ts";
import type { PublicKey } from "./key-packet.ts";
import type { SignaturePacket } from "./signature-packet.ts";

/** The verifications of one decision, which are bounded in number and each in size. */
export class Arithmetic {
  #left: number = signatureLimits.verifications;

  /**
   * Verifies that `key` made `signature` over `signed`. `signed` has the octets
   * that the signature's type prescribes (RFC 9580, 5.2.4), without salt and
   * trailer. Dates and issuer are not checked. Throws Refused ("limits"), or
   * Malformed for a key that costs too much.
   */
  isMadeBy(
    signature: SignaturePacket,
    key: PublicKey,
    signed: Uint8Array,
  ): boolean {
    if (key.algorithm !== signature.algorithm) return false;
    this.#spend();
    checkKeySize(key);
    const octets = [signature.salt, signed, signature.trailer];
    if (signature.version === 6 && !hasHashStart(signature, octets))
      return false;
    return isValid(signature, key, octets);
  }

  #spend(): void {
    if (this.#left === 0)
      throw new Refused(
        "limits",
        `more than ${signatureLimits.verifications} signatures to verify`,
      );
    this.#left -= 1;
  }
}

function hash(
  signature: SignaturePacket,
  octets: readonly Uint8Array[],
): Uint8Array {
  const digest = createHash(hashes[signature.hash]?.name ?? "");
  for (const part of octets) digest.update(part);
  return digest.digest();
}

/** Version 4 has these octets too, but go-crypto does not read them there. */
function hasHashStart(
  signature: SignaturePacket,
  octets: readonly Uint8Array[],
): boolean {
  const start = hash(signature, octets).subarray(0, 2);
  return Buffer.compare(start, signature.hashStart) === 0;
}

function isValid(
  signature: SignaturePacket,
  key: PublicKey,
  octets: readonly Uint8Array[],
): boolean {
  const value = formatValue(signature, key);
  const imported = tryImport(key);
  if (!value || !imported) return false;
  if (key.algorithm === 22 || key.algorithm >= 27)
    return verify(null, hash(signature, octets), imported, value);
  const verification = createVerify(hashes[signature.hash]?.name ?? "");
  for (const part of octets) verification.update(part);
  const plain = { key: imported, dsaEncoding: "ieee-p1363" as const };
  return verification.verify(plain, value);
}

/** Undefined where OpenSSL finds no key in these values: nothing that they sign verifies. */
function tryImport(key: PublicKey): KeyObject | undefined {
  try {
    return importKey(key);
  } catch {
    return undefined;
  }
}

/** The signature's numbers in OpenSSL's form; undefined when they are longer than any such signature. */
function formatValue(
  { values }: SignaturePacket,
  key: PublicKey,
): Uint8Array | undefined {
  const [first = new Uint8Array(), second = new Uint8Array()] = values;
  const [modulus, subgroup] = key.numbers;
  switch (key.algorithm) {
    case 1:
    case 3:
      return padZeros(first, Math.ceil((modulus?.bits ?? 0) / 8));
    case 17:
      return join([first, second].map(trimZeros), (subgroup?.bits ?? 0) / 8);
    case 19:
      return join(
        [first, second].map(trimZeros),
        curves[key.curve ?? ""]?.orderOctets ?? 0,
      );
    case 22:
      return key.point?.length === 32
        ? join([first, second], 32)
        : formatEd448(first);
    default:
      return first;
  }
}

/** Both numbers at the same length. */
function join(
  numbers: readonly Uint8Array[],
  length: number,
): Uint8Array | undefined {
  const padded = numbers.map((number) => padZeros(number, length));
  const whole = padded.filter((number) => number !== undefined);
  return whole.length === 2 ? Buffer.concat(whole) : undefined;
}

/** One number with an octet in front of it. */
function formatEd448(number: Uint8Array): Uint8Array | undefined {
  return number.length === 115 ? number.subarray(1) : undefined;
}
