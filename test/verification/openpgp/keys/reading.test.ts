import { describe, expect, it } from "vitest";
import { Certificate, outcome, signDocument, today } from "../certificates.ts";
import { armor, forgeKey, number, packet, type ForgedKey } from "../forge.ts";

const key = forgeKey(today - 1000);
const signature = signDocument(key);
const packets = () => new Certificate(key).userId("maker").packets;

function answer(
  octets: readonly Uint8Array[],
  signatures: readonly Uint8Array[] = [signature],
): Promise<string> {
  return outcome([armor(Buffer.concat(octets))], Buffer.concat(signatures));
}

const marker = packet(10, Buffer.from("GPG"));
const compressed = packet(8, Buffer.of(9));

it.each([
  ["a malformed marker", marker],
  ["compressed data of an unknown kind", compressed],
  ["attributes of a user that are none", packet(17, Buffer.of(0))],
])(
  "%s spoil the key that they stand in, and no key after it",
  async (_what, spoiling) => {
    expect(await answer([spoiling, ...packets()])).toBe("ok");
    expect(await answer([...packets(), spoiling])).toBe("unusable-key");
    expect(await answer(packets(), [spoiling, signature])).toBe(
      "unreadable-signature",
    );
  },
);

/** Returns the body of a packet whose length takes one octet or five. */
function body(one: Buffer): Buffer {
  return one.subarray(one[1] === 255 ? 6 : 2);
}

/** A private key with its secret in the clear. */
function secret(tag: 5 | 7, of: ForgedKey, wrong = 0): Buffer {
  const { d = "" } = of.privateKey.export({ format: "jwk" });
  const seed = Buffer.from(d, "base64url");
  const sum = seed.reduce((total, octet) => total + octet, wrong) & 0xffff;
  const octets = [of.body, Buffer.of(0), seed, number(sum, 2)];
  return packet(tag, Buffer.concat(octets));
}

/** In the format of old, with so many octets of length; none for a packet up to the end. */
function old(tag: number, body: Buffer, octets: 0 | 1 | 2 | 4): Buffer {
  const type = [1, 2, 4, 0].indexOf(octets);
  const length = octets === 0 ? Buffer.of() : number(body.length, octets);
  return Buffer.concat([Buffer.of(0x80 + tag * 4 + type), length, body]);
}

describe("a key block", () => {
  const [, id = key.body, self = key.body] = packets();
  const subkey = forgeKey(today - 1000);
  const certified = new Certificate(key).userId("maker").signingSubkey(subkey);
  const bySubkey = [signDocument(subkey)];
  const withSecret = (tag: 5 | 7) =>
    certified.packets.map((one) => {
      if (one[0] !== 0xc0 + 14) return one;
      return tag === 7 ? secret(7, subkey) : secret(5, subkey);
    });

  it.each<[string, string, readonly Uint8Array[]]>([
    [
      "with packets in the format of old",
      "ok",
      [old(6, key.body, 1), old(13, body(id), 4), old(2, body(self), 2)],
    ],
    [
      "whose last packet has no length",
      "ok",
      [old(6, key.body, 1), id, old(2, body(self), 0)],
    ],
    [
      "with a packet of tag 0 in the format of old",
      "unreadable-key",
      // Read in the current format, its length would be a packet of its own.
      [...packets(), Buffer.of(0x80, 0xcc, 0)],
    ],
    [
      "with a packet of tag 0",
      "unreadable-key",
      [...packets(), Buffer.of(0xc0, 0)],
    ],
    [
      "with a user ID that is cut",
      "unreadable-key",
      [...packets(), packet(13, id).subarray(0, -1)],
    ],
    [
      "with attributes of a user",
      "ok",
      [...packets(), packet(17, Buffer.of(2, 1, 1))],
    ],
    ["of a private key", "ok", [secret(5, key), id, self]],
    [
      "of a private key with a wrong checksum, which is not read",
      "ok",
      [secret(5, key, 1), id, self],
    ],
    ["whose first key is a subkey", "ok", [packet(14, key.body), id, self]],
    // After a fault, the next public primary key is waited for.
    [
      "with a fault before a private key",
      "unusable-key",
      [marker, secret(5, key), id, self],
    ],
    [
      "with a fault before a subkey",
      "unusable-key",
      [marker, packet(14, key.body), id, self],
    ],
    [
      "with two faults before a key",
      "unreadable-key",
      [marker, compressed, ...packets()],
    ],
    ["with a signature before a key", "ok", [self, ...packets()]],
  ])(
    "%s is read as go-crypto reads it: %s",
    async (_what, expected, octets) => {
      expect(await answer(octets)).toBe(expected);
    },
  );

  it("may have its subkeys with their secrets, and no primary key in place of one", async () => {
    expect(await answer(withSecret(7), bySubkey)).toBe("ok");
    expect(await answer(withSecret(5), bySubkey)).toBe("unknown-issuer");
  });

  it("of a primary key that cannot sign spoils the key after it where a fault follows", async () => {
    const encrypting = Buffer.from([
      4, 0, 0, 0, 1, 16, 0, 1, 1, 0, 1, 1, 0, 1, 1,
    ]);
    const undated = packet(2, Buffer.of(4, 0x13, 27, 8, 0, 0, 0, 0, 0, 0));
    const primary = packet(6, encrypting);
    expect(await answer([primary, ...packets()])).toBe("ok");
    expect(await answer([primary, undated, ...packets()])).toBe(
      "unreadable-key",
    );
  });
});
