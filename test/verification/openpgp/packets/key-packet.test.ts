import { describe, expect, it } from "vitest";
import type { Mpi } from "../../../../src/verification/openpgp/packets/bytes.ts";
import {
  readPublicKey,
  type PublicKey,
} from "../../../../src/verification/openpgp/packets/key-packet.ts";
import { checkKeySize } from "../../../../src/verification/openpgp/packets/limits.ts";
import { outcomeOf } from "./octets-read.ts";

const v4 = "4 0*4";
const v6 = "6 0*4";
const p256 = "8 42 134 72 206 61 3 1 7";
const legacyX25519 = "10 43 6 1 4 1 151 85 1 5 1";
const x448 = "3 43 101 111";
const ed448 = "3 43 101 113";
const kdf = "3 1 8 7";
const x25519Point = "1 7 64 0*32";

describe("a public key for encryption, such as a publisher's subkey,", () => {
  it.each([
    [`${v4} 18 ${legacyX25519} ${x25519Point} ${kdf} 5`, "read, 1 left"],
    [`${v4} 18 ${legacyX25519} 0 255 64 0*31 ${kdf}`, "Unreadable"],
    [`${v4} 18 ${x448} 1 193 64 0*56 ${kdf}`, "read"],
    // Where a point has no one size, any is taken: nothing is computed with it.
    [`${v4} 18 ${p256} 0 8 4 ${kdf}`, "read"],
    [`${v6} 0*4 18 ${p256} 0 8 4 ${kdf}`, "Unsupported"],
    [`6 0*4 18 0*4 ${p256} 0 8 4 ${kdf}`, "read"],
    [`6 0*4 18 0*4 ${legacyX25519} ${x25519Point} ${kdf}`, "Malformed"],
    [`6 0*4 18 0*4 ${x448} 1 193 64 0*56 ${kdf}`, "read"],
    [`${v4} 18 ${ed448} 0 8 4 ${kdf}`, "Unsupported"],
    [`${v4} 18 3 1 2 3 0 8 4 ${kdf}`, "Unsupported"],
    [`${v4} 18 0 0 8 4 ${kdf}`, "Unsupported"],
    [`${v4} 18 3 1 2 3`, "Unsupported"],
    [`${v4} 18 255`, "Unsupported"],
    [`${v4} 18 255 0*255 0 8 4 ${kdf}`, "Unsupported"],
    [`${v4} 18 ${p256} 0 8 4 255 1 8 7 0*252`, "Unsupported"],
    [`${v4} 18 ${p256} 0 8 4 3 2 8 7`, "read"],
    [`${v4} 18 ${p256} 0 8 4 3 1 2 7`, "read"],
    [`${v4} 18 ${p256} 0 8 4 3 1 8 1`, "read"],
    [`${v4} 18 ${p256} 0 8 4 0`, "read"],
    [`${v4} 18 ${p256} 0 8 4 3 1 8`, "Unreadable"],
    ["5 0*4 18", "Unsupported"],
    [`${v4} 99`, "Unsupported"],
    [`${v4} 25 7*32`, "read"],
    [`${v4} 25`, "Unsupported"],
    [`${v4} 25 7*31`, "Unreadable"],
    [`${v4} 16 0 8 1 0 8 1 0 8 1`, "read"],
    [`${v4} 16 0 8 1 0 8 1`, "Unreadable"],
    [`${v4} 1 0 8 1 0 24 1 0 1`, "read"],
    [`${v4} 1 0 8 1 0 25 1 0 0 1`, "Unsupported"],
  ])("of the octets %s: %s", (words, expected) => {
    expect(outcomeOf(readPublicKey, words)).toBe(expected);
  });
});

describe("a public key for signatures on a curve", () => {
  const ed25519 = "9 43 6 1 4 1 218 71 15 1";
  it.each([
    [`${v4} 22 ${ed25519} 1 7 64 0*32 5`, "read, 1 left"],
    [`${v4} 22 ${ed448} 1 207 64 0*57`, "read"],
    [`6 0*4 22 0*4 ${ed25519} 1 7 64 0*32`, "Malformed"],
    [`${v4} 22 ${ed25519} 0 0`, "Malformed"],
    [`${v4} 22 ${ed25519} 1 7 65 0*32`, "Unsupported"],
    [`${v4} 22 ${ed25519} 0 255 64 0*31`, "Unreadable"],
    [`${v4} 22 ${ed448} 1 7 64 0*32`, "Unreadable"],
    [`${v4} 22 ${legacyX25519} 1 7 64 0*32`, "Unsupported"],
    [`${v4} 22 ${p256} 0 8 64`, "Unsupported"],
    [`${v4} 19 ${ed25519} 1 7 64 0*32`, "Unsupported"],
    [`${v4} 19 ${p256} 0 8 4`, "Unreadable"],
    [`${v4} 27 7*32`, "read"],
    [`${v4} 28 7*56`, "Unreadable"],
  ])("of the octets %s: %s", (words, expected) => {
    expect(outcomeOf(readPublicKey, words)).toBe(expected);
  });
});

/** A number of so many bits that ends in this octet. */
const number = (bits: number, last: number): Mpi => ({
  bits,
  bytes: Uint8Array.of(1, last),
});

describe("the numbers of a key are bounded", () => {
  it.each<[string, number, readonly Mpi[], boolean]>([
    ["RSA of the least size", 1, [number(1024, 1), number(17, 1)], true],
    ["RSA of less", 1, [number(1023, 1), number(17, 1)], false],
    ["RSA of the greatest size", 1, [number(16_384, 1), number(17, 1)], true],
    ["RSA of more", 1, [number(16_385, 1), number(17, 1)], false],
    ["RSA with an even modulus", 1, [number(2048, 2), number(17, 1)], false],
    ["RSA with an even exponent", 1, [number(2048, 1), number(17, 2)], false],
    ["RSA with the least exponent", 1, [number(2048, 1), number(2, 3)], true],
    ["RSA with the exponent 1", 1, [number(2048, 1), number(1, 1)], false],
    ["DSA of the greatest sizes", 17, [number(4096, 1), number(256, 1)], true],
    ["DSA of more", 17, [number(4097, 1), number(256, 1)], false],
    ["DSA with more", 17, [number(4096, 1), number(264, 1)], false],
    ["DSA of an odd size", 17, [number(2048, 1), number(255, 1)], false],
    ["a curve, which has none", 22, [], true],
  ])("%s", (_what, algorithm, numbers, isGood) => {
    const check = () =>
      checkKeySize({ algorithm, numbers } as unknown as PublicKey);
    if (isGood) expect(check).not.toThrow();
    else expect(check).toThrow(/key|subgroup/);
  });
});
