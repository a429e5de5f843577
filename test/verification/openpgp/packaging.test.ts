import { describe, expect, it } from "vitest";
import { Certificate, outcome, signDocument, today } from "./certificates.ts";
import {
  armor,
  forgeKey,
  forgeSignature,
  issuerKeyId,
  keyFlags,
  number,
  packet,
  seconds,
} from "./forge.ts";

/** Key whose packets the tests wrap; each expected answer is go-crypto's. */
const key = forgeKey(today - 1000);
const signature = signDocument(key);

function packets(): Buffer[] {
  return new Certificate(key).userId("maker").packets;
}

function answer(
  octets: readonly Uint8Array[],
  signatures: readonly Uint8Array[] = [signature],
): Promise<string> {
  return outcome([armor(Buffer.concat(octets))], Buffer.concat(signatures));
}

function bodyOf(one: Buffer): Buffer {
  return one.subarray(one[1] === 255 ? 6 : 2);
}

/** The last part empty, which go-crypto leaves behind when nothing asks for it. */
function inParts(tag: number, body: Buffer): Buffer {
  const parts: Uint8Array[] = [Buffer.of(0xc0 + tag)];
  for (let rest = body; rest.length > 0;) {
    const power = Math.floor(Math.log2(rest.length));
    parts.push(Buffer.of(224 + power), rest.subarray(0, 2 ** power));
    rest = rest.subarray(2 ** power);
  }
  return Buffer.concat([...parts, Buffer.of(0)]);
}

function overstated(tag: number, body: Buffer, by: number): Buffer {
  const length = number(body.length + by, 4);
  return Buffer.concat([Buffer.of(0xc0 + tag, 0xff), length, body]);
}

describe("the lengths of packets", () => {
  it("are whole: only data may come in parts", async () => {
    const [primary = key.body, id = key.body, self = key.body] = packets();
    for (const parts of [
      [primary, id, inParts(2, bodyOf(self))],
      [primary, inParts(13, bodyOf(id)), self],
    ])
      expect(await answer(parts)).toBe("unreadable-key");
  });

  it("may say more than the fields have: the next packet begins after them", async () => {
    const [primary = key.body, id = key.body, self = key.body] = packets();
    const more = overstated(2, bodyOf(self), 20);
    expect(await answer([primary, id, more])).toBe("ok");
    expect(await answer([primary, id, more, ...packets()])).toBe("ok");
    expect(
      await answer(packets(), [overstated(2, bodyOf(signature), 20)]),
    ).toBe("ok");
  });

  it("that say less than the fields need make a block unreadable", async () => {
    const [primary = key.body, id = key.body, self = key.body] = packets();
    const less = overstated(2, bodyOf(self), -20);
    expect(await answer([primary, id, less])).toBe("unreadable-key");
  });
});

describe("packets that are not about keys", () => {
  it.each([
    ["a marker", packet(10, Buffer.from("PGP")), "ok", "ok"],
    // The empty one ends all packets.
    [
      "an empty marker",
      packet(10, Buffer.of()),
      "unknown-issuer",
      "unknown-issuer",
    ],
    [
      "a short one-pass signature of another version",
      packet(4, Buffer.of(9, 0, 8)),
      "unreadable-key",
      "unreadable-signature",
    ],
    [
      "a whole one-pass signature of another version",
      packet(4, Buffer.of(9, 0, 8, 1)),
      "ok",
      "ok",
    ],
    ["a trust packet", packet(12, Buffer.of(1)), "ok", "ok"],
    ["a packet of tag 60", packet(60, Buffer.of(1)), "ok", "ok"],
    ["a packet of tag 40", packet(40, Buffer.of(1)), "ok", "ok"],
    [
      "a packet of tag 39",
      packet(39, Buffer.of(1)),
      "unreadable-key",
      "unreadable-signature",
    ],
    ["padding", packet(21, Buffer.of(1)), "ok", "unreadable-signature"],
    ["a session key of another version", packet(1, Buffer.of(9)), "ok", "ok"],
  ])("%s", async (_name, extra, inKey, inSignature) => {
    const faultless = ["ok", "unknown-issuer"].includes(inKey);
    expect(await answer([extra, ...packets()])).toBe(inKey);
    expect(await answer([...packets(), extra])).toBe(faultless ? "ok" : inKey);
    expect(await answer(packets(), [extra, signature])).toBe(inSignature);
  });
});

describe("a fault within a signature", () => {
  const withSelf = (
    subpackets: readonly {
      type: number;
      content: Buffer;
      critical?: boolean;
    }[],
  ) => {
    const certificate = new Certificate(key).userId("maker");
    certificate.userId("second", [keyFlags(3), ...subpackets]);
    return answer(certificate.packets);
  };
  const binding = (version: number, rest: readonly number[]) => ({
    type: 32,
    content: Buffer.of(version, ...rest),
  });

  it.each([
    [
      "an unknown critical subpacket",
      [{ type: 100, content: Buffer.of(), critical: true }],
      "ok",
    ],
    [
      "a time of three octets",
      [{ type: 3, content: Buffer.of(0, 0, 1) }],
      "unusable-key",
    ],
    ["an embedded signature of another version", [binding(3, [])], "ok"],
    [
      "an embedded v6 signature that is cut",
      [binding(6, [0x19, 99, 8])],
      "unreadable-key",
    ],
    [
      "an embedded v6 signature of an unknown algorithm",
      [binding(6, [0x19, 99, 8, 0, 0, 0, 0])],
      "ok",
    ],
    [
      "a malformed issuer",
      [{ type: 16, content: Buffer.of(1) }],
      "unusable-key",
    ],
    [
      "an odd number of ciphers",
      [{ type: 39, content: Buffer.of(1) }],
      "unusable-key",
    ],
    [
      "an expression without an end",
      [{ type: 6, content: Buffer.of(1) }],
      "unusable-key",
    ],
    [
      "a trust of one octet",
      [{ type: 5, content: Buffer.of(1) }],
      "unusable-key",
    ],
    [
      "no reason for a revocation",
      [{ type: 29, content: Buffer.of() }],
      "unusable-key",
    ],
    ["not exportable", [{ type: 4, content: Buffer.of(0) }], "ok"],
  ])("%s", async (_name, subpackets, expected) => {
    expect(await withSelf(subpackets)).toBe(expected);
  });

  it("embedded in one another: 16 deep is read, deeper is refused", async () => {
    const nest = (depth: number): Buffer =>
      forgeSignature(key, Buffer.of(), {
        type: 0x19,
        createdAt: today,
        subpackets:
          depth > 1
            ? [{ type: 32, content: nest(depth - 1) }]
            : [seconds(3, 1)],
      });
    expect(await withSelf([{ type: 32, content: nest(16) }])).toBe("ok");
    expect(await withSelf([{ type: 32, content: nest(17) }])).toBe(
      "unusable-key",
    );
  });

  it("leaves the key of another usable, even when it is cut within a subkey", async () => {
    const subkey = forgeKey(today - 1000);
    const other = new Certificate()
      .userId("other")
      .signingSubkey(subkey).packets;
    const last = other.pop() ?? key.body;
    const cut = overstated(2, bodyOf(last).subarray(0, -20), 20);
    expect(await answer([...packets(), ...other, cut])).toBe("ok");
    expect(await answer([...other, cut])).toBe("unusable-key");
  });

  it("between two keys spoils the first alone", async () => {
    const other = new Certificate().userId("other").packets;
    const garbage = Buffer.of(0);
    expect(await answer([...other, garbage, ...packets()])).toBe("ok");
    expect(await answer([...packets(), garbage, ...other])).toBe(
      "unknown-issuer",
    );
    expect(await answer([...other, garbage, garbage, ...packets()])).toBe(
      "unreadable-key",
    );
  });
});

describe("numbers of EdDSA with zero octets in front", () => {
  it("are read up to 32 octets and refused beyond", async () => {
    const legacy = forgeKey(today - 1000, { kind: "eddsa" });
    const certificate = new Certificate(legacy).userId("maker");
    const good = signDocument(legacy, {
      anonymous: true,
      unhashed: [issuerKeyId(legacy)],
    });
    expect(await outcome([certificate], good)).toBe("ok");
    const body = bodyOf(good);
    const first = body.length - 68;
    const longer = Buffer.concat([
      body.subarray(0, first),
      number(264, 2),
      Buffer.of(0),
      body.subarray(first + 2),
    ]);
    // Only where neither number is short already.
    if (body.readUInt16BE(first) > 248)
      expect(await outcome([certificate], packet(2, longer))).toBe(
        "bad-signature",
      );
  });
});

it("numbers of Ed448 in a version 4 key come as one, after an octet that says so", async () => {
  const legacy = forgeKey(today - 1000, { kind: "eddsa448" });
  const certificate = new Certificate(legacy).userId("maker");
  const made = signDocument(legacy);
  expect(await outcome([certificate], made)).toBe("ok");
  const longer = Buffer.concat([
    bodyOf(made).subarray(0, -119),
    number(928, 2),
    Buffer.alloc(116, 0x40),
    number(0, 2),
  ]);
  expect(await outcome([certificate], packet(2, longer))).toBe("bad-signature");
});

describe("armor", () => {
  const text = armor(Buffer.concat(packets()));
  const title = "-----BEGIN PGP PUBLIC KEY BLOCK-----";

  it.each([
    ["a BEGIN line that ends in another character", title.slice(0, -1) + "é"],
    ["a BEGIN line with a byte order mark", `${title.slice(0, -5)}\ufeff-----`],
    ["a BEGIN line of another type", "-----BEGIN PGP MESSAGE-----"],
  ])("is refused with %s", async (_name, line) => {
    expect(await outcome([text.replace(title, line)], signature)).toBe(
      "unreadable-key",
    );
  });

  it("may end its BEGIN line in any five octets", async () => {
    const line = `${title.slice(0, -5)}12345`;
    expect(await outcome([text.replace(title, line)], signature)).toBe("ok");
  });

  it("is refused where its data are no base64, wherever that is", async () => {
    const lines = text.split("\n");
    lines[3] = `${(lines[3] ?? "").slice(0, -1)}!`;
    expect(await outcome([lines.join("\n")], signature)).toBe("unreadable-key");
  });
});
