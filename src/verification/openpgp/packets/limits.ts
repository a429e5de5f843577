import { Refused } from "./refusal.ts";
import type { PublicKey } from "./key-packet.ts";

/** Checked before any arithmetic, because a 12 KB key can cost half a minute of it. Sizes in octets and bits. */
export const signatureLimits = {
  keyText: 256 * 1024,
  keys: 16,
  signature: 16 * 1024,
  document: 1024 * 1024,
  packets: 256,
  rsaModulus: { least: 1024, most: 8192 },
  dsaPrime: 3072,
  dsaSubgroup: 256,
} as const;

/** Throws Refused ("limits"); costs nothing, whatever the sizes. */
export function checkQuestionSize(question: {
  readonly document: Uint8Array;
  readonly signature: Uint8Array;
  readonly keys: readonly string[];
}): void {
  const { document, signature, keys } = question;
  const keyText = keys.reduce((sum, key) => sum + key.length, 0);
  expectAtMost("signing keys", keys.length, signatureLimits.keys);
  expectAtMost("characters of signing keys", keyText, signatureLimits.keyText);
  expectAtMost(
    "octets of signature",
    signature.length,
    signatureLimits.signature,
  );
  expectAtMost(
    "octets of signed document",
    document.length,
    signatureLimits.document,
  );
}

/** That arithmetic with this key is bounded, and its numbers of a form that Go computes with; throws Refused ("limits"). */
export function checkKeySize({ algorithm, numbers }: PublicKey): void {
  const [first, second] = numbers;
  if (first === undefined || second === undefined) return;
  if (algorithm === 17) {
    expectAtMost("bits of DSA prime", first.bits, signatureLimits.dsaPrime);
    expectAtMost(
      "bits of DSA subgroup",
      second.bits,
      signatureLimits.dsaSubgroup,
    );
    if (second.bits % 8 !== 0)
      throw new Refused("limits", "a DSA subgroup of odd size");
  } else if (algorithm !== 16) {
    const { least, most } = signatureLimits.rsaModulus;
    expectAtMost("bits of RSA modulus", first.bits, most);
    if (first.bits < least)
      throw new Refused(
        "limits",
        `${first.bits} bits of RSA modulus, at least ${least} are verified`,
      );
    if (!isOdd(first.bytes) || !isOdd(second.bytes) || second.bits < 2)
      throw new Refused("limits", "an RSA key that is none");
  }
}

function isOdd(bytes: Uint8Array): boolean {
  return (bytes.at(-1) ?? 0) % 2 === 1;
}

function expectAtMost(what: string, got: number, most: number): void {
  if (got > most)
    throw new Refused("limits", `${got} ${what}, at most ${most} are read`);
}
