import { expect, it } from "vitest";
import {
  isIssuedBy,
  readSignaturePacket,
  type SignaturePacket,
} from "../../../../src/verification/openpgp/packets/signature-packet.ts";
import { outcomeOf } from "./octets-read.ts";

const made = "5 2 0 0 0 9";
const issuer = "9 16 1*8";
const critical = "2 228 1";
const ed25519 = "1 2 3*64";
/** Version 4 and type 0, with hashed and unhashed subpackets. */
const v4 = (hashed = `6 ${made}`, unhashed = "0") =>
  `4 0 27 8 0 ${hashed} 0 ${unhashed} ${ed25519}`;
const v6 = (hashed: string, salt: string, hash = 8) =>
  `6 0 27 ${hash} 0*3 ${hashed} 0*4 1 2 ${salt} 3*64`;
/** A signature within another, of 82 octets. */
const within = (type: number) =>
  `81 32 4 ${type} 27 8 0 6 ${made} 0 0 ${ed25519}`;

it.each([
  [v4(), "read"],
  [`${v4()} 5`, "read, 1 left"],
  [v4().replace("4", "3"), "Unsupported"],
  [v4().replace("4", "5"), "Unsupported"],
  ...[
    ["1", "0 8 255", "read"],
    ["3", "0 8 255", "read"],
    ["17", "0 8 255 0 8 255", "read"],
    ["19", "0 8 255 0 8 255", "read"],
    ["22", "0 8 255 0 8 255", "read"],
    ["22", "0 8 255", "Unreadable"],
    ["27", "3*63", "Unreadable"],
    ["27", "", "Unsupported"],
    ["28", "3*114", "read"],
    ["28", "3*113", "Unreadable"],
    ["2", "0 8 255", "Unsupported"],
    ["16", "0 8 255 0 8 255", "Unsupported"],
    ["99", "0 8 255", "Unsupported"],
  ].map(([algorithm = "", values = "", expected = ""]) => [
    `4 0 ${algorithm} 8 0 6 ${made} 0 0 1 2 ${values}`,
    expected,
  ]),
  ...[2, 8, 9, 10, 11, 12, 14].map((hash) => [
    `4 0 27 ${hash} 0 6 ${made} 0 0 ${ed25519}`,
    "read",
  ]),
  // MD5, RIPEMD-160 and unassigned numbers.
  ...[0, 1, 3, 13].map((hash) => [
    `4 0 27 ${hash} 0 6 ${made} 0 0 ${ed25519}`,
    "Unsupported",
  ]),
  [v6(`6 ${made}`, "16 7*16"), "read"],
  [v6(`6 ${made}`, "15 7*15"), "Malformed"],
  [v6(`6 ${made}`, "24 7*24", 9), "read"],
  [v6(`6 ${made}`, "16 7*16", 9), "Malformed"],
  [v6(`6 ${made}`, "16 7*16", 2), "Unsupported"],
  [v6(`16 ${made} ${issuer}`, "16 7*16"), "Malformed"],
  [v4(`16 ${made} ${issuer}`), "read"],
  [v4("0"), "Malformed"],
  [v4("0", `6 ${made}`), "Malformed"],
  [v4(`9 ${made} ${critical}`), "Unsupported"],
  [v4(`6 ${made}`, `3 ${critical}`), "read"],
  [v4(`6 ${made}`, "2 5 2"), "Malformed"],
  [v4(`6 ${made}`, "3 2 16 1"), "Malformed"],
  [v4(`6 ${made}`, `82 ${within(25)}`), "read"],
  [v4(`88 ${made} ${within(25)}`), "read"],
  [v4(`6 ${made}`, `82 ${within(24)}`), "Malformed"],
  [v4(`6 ${made}`, `164 ${within(25)} ${within(25)}`), "Malformed"],
  [v4(`88 ${made} ${within(25)}`, `82 ${within(25)}`), "Malformed"],
])("a signature packet of the octets %s: %s", (words = "", expected = "") => {
  expect(outcomeOf(readSignaturePacket, words)).toBe(expected);
});

it.each([
  ["its key ID", { issuerKeyId: "ID" }, true],
  ["another key ID", { issuerKeyId: "OTHER" }, false],
  ["nothing", {}, false],
  ["its fingerprint", { issuerFingerprint: "FINGERPRINT" }, true],
  ["another fingerprint", { issuerFingerprint: "OTHER" }, false],
  [
    "another fingerprint with its key ID",
    { issuerFingerprint: "OTHER", issuerKeyId: "ID" },
    false,
  ],
])("a signature that names %s is by a key: %s", (_what, names, expected) => {
  const key = { fingerprint: "FINGERPRINT", keyId: "ID" };
  expect(isIssuedBy(names as SignaturePacket, key)).toBe(expected);
});
