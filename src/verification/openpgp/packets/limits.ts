import { Malformed, Refused } from "./refusal.ts";
import type { PublicKey } from "./key-packet.ts";

/**
 * Limits that are checked before any arithmetic, because a 12 KB key can cost
 * half a minute of it. Sizes in octets and bits.
 */
export const signatureLimits = {
  keyText: 2 * 1024 * 1024,
  keys: 16,
  signature: 16 * 1024,
  document: 16 * 1024 * 1024,
  /**
   * Verifications of one decision: of the signature, and of each key's own
   * signatures.
   */
  verifications: 512,
  rsaModulus: { least: 1024, most: 16_384 },
  dsaPrime: 4096,
  dsaSubgroup: 256,
} as const;

/** Throws Refused ("limits"). Its cost does not grow with the sizes. */
export function checkQuestionSize(question: {
  readonly document: Uint8Array;
  readonly signature: Uint8Array;
  readonly keys: readonly string[];
}): void {
  const { document, signature, keys } = question;
  const { keyText, ...most } = signatureLimits;
  const text = keys.reduce((sum, key) => sum + key.length, 0);
  expectAtMost("signing keys", keys.length, most.keys);
  expectAtMost("characters of signing keys", text, keyText);
  expectAtMost("octets of signature", signature.length, most.signature);
  expectAtMost("octets of signed document", document.length, most.document);
}

function expectAtMost(what: string, got: number, most: number): void {
  if (got > most)
    throw new Refused("limits", `${got} ${what}, at most ${most} are read`);
}

/** That arithmetic with this key is bounded, and its numbers of a form that Go computes with; throws Malformed. */
export function checkKeySize({ algorithm, numbers }: PublicKey): void {
  const [first, second] = numbers;
  if (first === undefined || second === undefined) return;
  if (algorithm === 17) {
    const { dsaPrime, dsaSubgroup } = signatureLimits;
    if (first.bits > dsaPrime || second.bits > dsaSubgroup)
      throw new Malformed(
        `a DSA key of ${first.bits} and ${second.bits} bits, at most ${dsaPrime} and ${dsaSubgroup} are computed with`,
      );
    if (second.bits % 8 !== 0)
      throw new Malformed("a DSA subgroup of odd size");
    return;
  }
  const { least, most } = signatureLimits.rsaModulus;
  if (first.bits < least || first.bits > most)
    throw new Malformed(
      `an RSA key of ${first.bits} bits, ${least} to ${most} are computed with`,
    );
  if (!isOdd(first.bytes) || !isOdd(second.bytes) || second.bits < 2)
    throw new Malformed("an RSA key that is none");
}

function isOdd(bytes: Uint8Array): boolean {
  return (bytes.at(-1) ?? 0) % 2 === 1;
}
