import { describe, expect, it } from "vitest";
import { messagePackets } from "../../../../src/verification/openpgp/packets/message-packets.ts";
import type { Contents } from "../../../../src/verification/openpgp/packets/octets.ts";
import { outcomeOf } from "./octets-read.ts";

/** What go-crypto takes of each packet of a message, and what it cannot read. */
const tables: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  // An encrypted session key: version, recipient, algorithm, its fields.
  1: {
    "": "Unreadable",
    "4": "Unsupported",
    "3 0*7": "Unreadable",
    "3 0*8 1 0 8 255 7 7": "read",
    "3 0*8 1 0 16 255": "Unreadable",
    "3 0*8 2 0 16 255": "Unreadable",
    "3 0*8 16 0 8 255 0 8 255": "read",
    "3 0*8 16 0 8 255 0 8": "Unreadable",
    "3 0*8 18 0 8 255 2 7 7": "read",
    "3 0*8 18 0 16 255": "Unreadable",
    "3 0*8 18 0 8 255 2 7": "Unreadable",
    "3 0*8 18 0 8 255 0": "Unsupported",
    "3 0*8 18 0 8 255 255": "Unsupported",
    "3 0*8 99": "read",
    "3 0*8 25": "EndOfPackets",
    "3 0*8 25 7*31": "Unreadable",
    "3 0*8 25 7*32": "EndOfPackets",
    "3 0*8 25 7*32 2 9 8": "read",
    "3 0*8 25 7*32 2 9": "EndOfPackets",
    "3 0*8 25 7*32 2": "EndOfPackets",
    "3 0*8 25 7*32 0 9 8": "Unreadable",
    "3 0*8 26 7*56 1 9": "read",
    "3 0*8 26 7*55": "Unreadable",
    "6 0 25 7*32 2 8 8": "read",
    "6 0 25 7*32 2 8": "Unreadable",
    "6 21 4 0*20 1 0 8 255": "read",
    "6 21 4 0*19": "Unreadable",
    "6 21 5": "Unsupported",
    "6 33 6 0*32 1 0 8 255": "read",
    "6 33 6 0*31": "Unreadable",
  },
  // A session key under a passphrase: version, cipher, string-to-key, the key.
  3: {
    "4 7 0 8": "read",
    "4 2 3 8 0*8 96": "read",
    "4 1 0 8": "Unsupported",
    "5 7 0 8": "Unsupported",
    "4 7 0 1": "Unsupported",
    "4 7 101 0 71 78 85 1": "Unsupported",
    "4 7 0 8 1*63": "read",
    "4 7 0 8 1*64": "Unsupported",
    "6 9 7": "Malformed",
    "6 9 7 1 0 0 8 1*16": "read",
    "6 9 7 1 0 0 8 1*15": "Malformed",
    "6 9 7 2 0 0 8 1*15": "read",
    "6 9 7 2 0 0 8 1*14": "Malformed",
    "6 9 7 3 0 0 8 1*12": "read",
    "6 9 7 9 0 0 8": "read",
  },
  // A one-pass signature: version, type, hash, algorithm, signer.
  4: {
    "3 0 8": "Unreadable",
    "4 0 8 1": "Unsupported",
    "3 0 1 1": "Unsupported",
    "3 0 8 1 0*8 1 5": "read, 1 left",
    "3 0 2 1 0*8 1": "read",
    "3 0 8 1 0*8": "Unreadable",
    "6 0 8 1 16 0*16 0*32 1 5": "read, 1 left",
    "6 0 10 1 32 0*32 0*32 1": "read",
    "6 0 8 1 17 0*17 0*32 1": "Malformed",
    "6 0 2 1 16 0*16 0*32 1": "Unsupported",
    "6 0 8 1 16 0*16 0*32": "Unreadable",
  },
  // Compressed data: algorithm.
  8: {
    "": "Unreadable",
    "1 5": "read, 1 left",
    "2": "Unreadable",
    "3": "read",
    "4": "UnsupportedPacket",
  },
  9: { "": "read", "5": "read, 1 left" },
  // Literal data: format, name, date.
  11: {
    "98 2 65 66 0*4 5": "read, 1 left",
    "98 2 65 66 0*3": "Unreadable",
    "98": "Unreadable",
  },
  // Protected data: version, cipher, mode, size of chunks, salt.
  18: {
    "1 5": "read, 1 left",
    "3": "UnsupportedPacket",
    "2 7 2 16 0*32 5": "read, 1 left",
    "2 8 1 0 0*32": "read",
    "2 9 3 0 0*32": "read",
    "2 2 2 16 0*32": "UnsupportedPacket",
    "2 7 4 16 0*32": "UnsupportedPacket",
    "2 7 2 17 0*32": "UnsupportedPacket",
    "2 7 2 16 0*31": "Malformed",
    "2 7 2": "Malformed",
  },
  // AEAD data: version, cipher, mode, size of chunks, nonce.
  20: {
    "1 7 1 0 0*16 5": "read, 1 left",
    "1 7 2 0 0*15 5": "read, 1 left",
    "1 7 3 0 0*12": "Unreadable",
    "1 7 1 0 0*15": "Unreadable",
    "1 1 1 0 0*16": "UnsupportedPacket",
  },
};

const readerOf = (tag: string) => (contents: Contents) =>
  messagePackets[Number(tag)]?.(contents);

describe.each(Object.entries(tables))("a packet of type %s", (tag, rows) => {
  it.each(Object.entries(rows))("of the octets %s: %s", (words, expected) => {
    expect(outcomeOf(readerOf(tag), words)).toBe(expected);
  });
});

it("a session key under a passphrase may be cut, its fields may not", () => {
  const read = readerOf("3");
  expect(outcomeOf(read, "4 7 0 8 1*9", 20)).toBe("read");
  expect(outcomeOf(read, "4 7 3 8 0*7", 20)).toBe("Unreadable");
});
