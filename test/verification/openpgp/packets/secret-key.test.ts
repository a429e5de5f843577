import { describe, expect, it } from "vitest";
import type { PublicKey } from "../../../../src/verification/openpgp/packets/key-packet.ts";
import {
  readPassphraseStretching,
  readSecretPart,
} from "../../../../src/verification/openpgp/packets/secret-key.ts";
import { outcomeOf } from "./octets-read.ts";

const iterated = "3 8 0*8 96";
const argon2 = "4 0*16 1 4 21";
const dummy = "101 0 71 78 85 1";

/** By version and algorithm: the octets after the public part, and what go-crypto makes of them. */
const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // In the clear, with a checksum.
  "4 22": {
    "0 0 8 255 1 7": "read",
    "0 0 8 255 1 8": "Malformed",
    "0 0 8 255 2 7": "Malformed",
    "0 0 16 255 1 15": "Unreadable",
    "0 7": "Malformed",
    "0": "Malformed",
    "0 0 0": "Unreadable",
  },
  "4 1": {
    "0 0 8 1 0 8 1 0 8 1 0 27": "read",
    "0 0 8 1 0 8 1 0 18": "Unreadable",
  },
  "4 3": { "0 0 8 1 0 8 1 0 18": "Unreadable" },
  "4 17": { "0 0 8 1 0 9": "read" },
  "4 25": { "0 0*32 0 0": "read", "0 0*31 0 0": "Malformed" },
  "4 26": { "0 0*56 0 0": "read", "0 0*57 0 0": "Malformed" },
  "4 28": { "0 0*57 0 0": "read", "0 0*56 0 0": "Malformed" },
  "6 27": {
    "0 0*32": "read",
    "0 0*32 0 0": "Malformed",
    "0 1": "Malformed",
    // Encrypted, each group of fields with its size.
    [`254 9 7 9 ${iterated} 1*16 5`]: "read",
    [`255 9 7 9 ${iterated} 1*16`]: "Malformed",
    "254 9 7 9 0 8 1*16": "Malformed",
    [`253 9 7 2 9 ${argon2} 1*15`]: "read",
    [`254 9 7 9 ${iterated} 1*15`]: "Unreadable",
  },
  "6 22": { "0 0 8 255": "read", "0 0 16 255": "Unreadable" },
  // Encrypted.
  "4 27": {
    "0 0*32 0 0": "read",
    "0 0*33 0 0": "Malformed",
    "252 7": "Unsupported",
    [`255 7 ${iterated} 1*16 5`]: "read",
    [`254 7 ${iterated} 1*16`]: "read",
    [`254 7 ${iterated} 1*15`]: "Unreadable",
    [`254 2 ${iterated} 1*8`]: "read",
    [`254 2 ${iterated} 1*7`]: "Unreadable",
    "254 7 0 8 1*16": "read",
    "254 7 1 8 0*8 1*16": "read",
    "254 7 1 8 0*8 1*15": "Unreadable",
    "254 7 0 1 1*16": "Unsupported",
    "254 7 2 8 1*16": "Unsupported",
    "254 7": "EndOfPackets",
    [`254 1 ${iterated} 1*16`]: "Unsupported",
    [`254 0 ${iterated} 1*16`]: "Unsupported",
    [`254 7 ${argon2} 1*16`]: "Malformed",
    [`253 7 1 ${argon2} 1*16`]: "read",
    [`253 7 1 ${argon2} 1*15`]: "Unreadable",
    [`253 7 3 ${argon2} 1*12`]: "read",
    [`253 7 4 ${argon2} 1*16`]: "Unsupported",
    [`253 7 2 ${iterated} 1*15`]: "read",
    [`253 0 2 ${argon2} 1*15`]: "read",
    // GNU's key without its secret has nothing behind that.
    [`254 0 ${dummy}`]: "read",
    [`254 7 ${dummy}`]: "read",
    "254 7 101 0 71 78 85 2": "Unsupported",
    [`254 1 ${dummy}`]: "Unsupported",
    [`253 1 2 ${argon2} 1*15`]: "Unsupported",
    [`253 7 4 ${dummy}`]: "Unsupported",
  },
};

describe.each(Object.entries(tables))(
  "a secret key of version and algorithm %s",
  (of, rows) => {
    const [version, algorithm] = of.split(" ").map(Number);
    const key = { version, algorithm } as PublicKey;
    it.each(Object.entries(rows))("of the octets %s: %s", (words, expected) => {
      const read = (contents: Parameters<typeof readSecretPart>[0]) =>
        readSecretPart(contents, key);
      expect(outcomeOf(read, words)).toBe(expected);
    });
  },
);

describe("how a passphrase becomes a key", () => {
  it.each([
    ["0 8", "read"],
    ["0 1", "Unsupported"],
    ["0 2", "read"],
    [`${iterated} 5`, "read, 1 left"],
    ["3 8 0*8", "Unreadable"],
    ["3", "EndOfPackets"],
    ["2 8", "Unsupported"],
    [dummy, "Unsupported"],
    ["101 8 71 78 85 1", "Unsupported"],
    [argon2, "read"],
    ["4 0*16 0 4 21", "Malformed"],
    ["4 0*16 1 0 21", "Malformed"],
    ["4 0*16 1 4 5", "read"],
    ["4 0*16 1 4 4", "Malformed"],
    ["4 0*16 1 5 6", "read"],
    ["4 0*16 1 5 5", "Malformed"],
    ["4 0*16 1 4 31", "read"],
    ["4 0*16 1 4 32", "Malformed"],
    ["4 0*16 1 4", "Unreadable"],
  ])("of the octets %s: %s", (words, expected) => {
    expect(outcomeOf(readPassphraseStretching, words)).toBe(expected);
  });
});
