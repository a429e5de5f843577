import { createHash, createVerify, verify, type KeyObject } from "node:crypto";
import { padZeros, trimZeros } from "./bytes.ts";
import { checkKeySize, signatureLimits } from "./limits.ts";
import { Refused } from "./refusal.ts";
import { importKey } from "./spki.ts";
import type { PublicKey } from "./key-packet.ts";
import type { SignaturePacket } from "./signature-packet.ts";

/** Node's names, by algorithm number (RFC 9580, 9.5). */
const hashNames: Readonly<Record<number, string>> = {
  2: "sha1",
  8: "sha256",
  9: "sha384",
  10: "sha512",
  11: "sha224",
  12: "sha3-256",
  14: "sha3-512",
};

/** Size of ECDSA values in octets, by the curve's object identifier. */
const orderOctets: Readonly<Record<string, number>> = {
  "2A8648CE3D030107": 32,
  "2B81040022": 48,
  "2B81040023": 66,
  "2B8104000A": 32,
  "2B2403030208010107": 32,
  "2B240303020801010B": 48,
  "2B240303020801010D": 64,
};

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
  const digest = createHash(hashNames[signature.hash] ?? "");
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
  const verification = createVerify(hashNames[signature.hash] ?? "");
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
        orderOctets[key.curve ?? ""] ?? 0,
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
