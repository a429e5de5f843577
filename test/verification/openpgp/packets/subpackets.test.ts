import { describe, expect, it } from "vitest";
import type { Malformed } from "../../../../src/verification/openpgp/packets/refusal.ts";
import {
  readSubpacket,
  splitSubpackets,
  type SignatureProperties,
} from "../../../../src/verification/openpgp/packets/subpackets.ts";
import { octetsOf } from "./octets-read.ts";

/** Reads subpackets into properties; returns the name of a refusal. */
function read(words: string, version = 4): SignatureProperties | string {
  const properties: SignatureProperties = {};
  try {
    for (const one of splitSubpackets(octetsOf(words)))
      readSubpacket(properties, version, one);
    return properties;
  } catch (error) {
    return (error as Malformed).constructor.name;
  }
}

describe("the subpackets", () => {
  it.each<[string, SignatureProperties | string]>([
    ["", {}],
    ["0", "Malformed"],
    ["5 2 0 0 0", "Malformed"],
    ["5 2 0 0 0 9", { createdAt: 9 }],
    ["4 2 0 0 9", "Malformed"],
    ["5 3 0 0 1 0", { lifetime: 256 }],
    ["5 9 0 0 0 7 5 9 0 0 0 8", { keyLifetime: 8 }],
    ["255 0 0 0 5 2 0 0 0 9", { createdAt: 9 }],
    ["255 0 0 0", "Malformed"],
    ["192", "Malformed"],
    ["192 0 20 0*191", "Malformed"],
    ["192 1 20 0*3 1 0 176 0 8*184", "Malformed"],
    ["192 0 20 0*4 0 183 0 0 8*183", {}],
    ["1 4", "Malformed"],
    ["2 4 0", "Unsupported"],
    ["2 4 1", {}],
    ["9 16 1*8", { issuerKeyId: "01".repeat(8) }],
    ["8 16 1*7", "Malformed"],
    ["9 20 0*4 0 0 0 0", {}],
    ["9 148 0*4 0 0 0 0", { hasCriticalNotation: true }],
    ["11 20 0*4 0 1 0 1 8 8", {}],
    ["11 20 0*4 0 1 0 2 8 8", "Malformed"],
    ["8 20 0*7", "Malformed"],
    ["2 25 1", { isPrimaryUserId: true }],
    ["2 25 0", { isPrimaryUserId: false }],
    ["1 25", "Malformed"],
    ["3 25 1 1", "Malformed"],
    ["2 27 1 3 27 2 9", { keyFlags: 3 }],
    ["2 29 3", { revocationReason: 3 }],
    ["1 29", "Malformed"],
    [
      "22 33 4 1*20",
      { issuerFingerprint: "01".repeat(20), issuerKeyId: "01".repeat(8) },
    ],
    [
      "22 33 4 2*12 1*8",
      {
        issuerFingerprint: "02".repeat(12) + "01".repeat(8),
        issuerKeyId: "01".repeat(8),
      },
    ],
    [
      "34 33 5 1*8 2*24",
      {
        issuerFingerprint: "01".repeat(8) + "02".repeat(24),
        issuerKeyId: "01".repeat(8),
      },
    ],
    ["22 33 5 1*20", "Malformed"],
    ["34 33 4 1*32", "Malformed"],
    ["3 5 1 2", {}],
    ["2 5 1", "Malformed"],
    ["3 6 65 0", {}],
    ["3 6 65 66", "Malformed"],
    ["22 35 4 1*20", {}],
    ["21 35 4 1*19", "Malformed"],
    ["3 39 1 2", {}],
    ["2 39 1", "Malformed"],
    ["2 99 1", {}],
    ["9 99 1", "Malformed"],
    ["2 227 1", "Unsupported"],
    ["1 128", "Unsupported"],
    // Critical ones that go-crypto knows: 11, 21 to 24, 26, 28 and 30.
    ["2 139 1 2 149 1 2 150 1 2 151 1 2 152 1 2 154 1 2 156 1 2 158 1", {}],
  ])("%s", (words, expected) => {
    expect(read(words)).toEqual(expected);
  });

  it("do not name the issuer of a v6 signature by a key ID", () => {
    expect(read("9 16 1*8", 6)).toEqual({});
  });
});
