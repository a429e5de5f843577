import * as openpgp from "openpgp";
import { decisionVersion } from "../../../src/verification/openpgp/decision-version.ts";
import { describe, expect, it } from "vitest";
import { decideSignature } from "../../../src/verification/openpgp/signature.ts";
import {
  Certificate,
  decide,
  document,
  now,
  outcome,
  signDocument,
  today,
} from "./certificates.ts";
import {
  forgeKey,
  forgeSignature,
  issuerKeyId,
  keyFlags,
  keyIdOf,
  notation,
  packet,
} from "./forge.ts";

describe("a signature's own form", () => {
  const key = forgeKey(today - 1000);
  const certificate = new Certificate(key).userId("maker");
  const embedded = {
    type: 32,
    content: forgeSignature(key, document, { type: 0x19, createdAt: today }),
  };

  it("tells who made it, with which key and when", async () => {
    const decision = await decide(
      [certificate],
      signDocument(key, { createdAt: today - 60 }),
    );
    expect(decision).toEqual({
      accepted: true,
      signedBy: key.fingerprint,
      signingKey: key.fingerprint,
      createdAt: new Date(now.getTime() - 60_000),
      validity: "ok",
      warning: undefined,
    });
  });

  it("is refused when it is armored", async () => {
    const armored = openpgp.armor(
      openpgp.enums.armor.signature,
      signDocument(key),
    );
    expect(await outcome([certificate], Buffer.from(armored))).toBe(
      "unreadable-signature",
    );
  });

  it("finds its key by the ID at the end of an issuer fingerprint", async () => {
    const foreign = Buffer.from(`04${"00".repeat(12)}${keyIdOf(key)}`, "hex");
    const signature = signDocument(key, {
      anonymous: true,
      subpackets: [{ type: 33, content: foreign }],
    });
    expect(await outcome([certificate], signature)).toBe("ok");
  });

  it.each([
    ["a critical issuer", { ...issuerKeyId(key), critical: true }],
    ["an embedded signature", embedded],
    ["a notation", notation("a@example.com", true)],
  ])("is accepted with %s that nothing protects", async (_name, extra) => {
    const unhashed = [extra];
    expect(await outcome([certificate], signDocument(key, { unhashed }))).toBe(
      "ok",
    );
  });

  it("believes the last issuer that it names, protected or not", async () => {
    const unhashed = [issuerKeyId(forgeKey(today)), issuerKeyId(key)];
    const named = (order: typeof unhashed) =>
      outcome([certificate], signDocument(key, { unhashed: order }));
    expect(await named(unhashed)).toBe("ok");
    expect(await named(unhashed.toReversed())).toBe("unknown-issuer");
  });

  it("is passed over while its issuer is unknown, and the next one decides", async () => {
    const both = Buffer.concat([
      signDocument(forgeKey(today - 1000)),
      signDocument(key),
    ]);
    expect(await outcome([certificate], both)).toBe("ok");
  });

  it("is the first with a known issuer, even if the second one would do", async () => {
    const broken = signDocument(key);
    broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;
    expect(
      await outcome([certificate], Buffer.concat([broken, signDocument(key)])),
    ).toBe("bad-signature");
  });

  it("counts over text with the line ends made CRLF", () => {
    const text = Buffer.from("one\r\ntwo\nthree\r\r\n\n");
    const signed = Buffer.from("one\r\ntwo\r\nthree\r\r\r\n\r\n");
    const signature = packet(
      2,
      forgeSignature(key, signed, { type: 1, createdAt: today - 60 }),
    );
    const question = {
      document: text,
      signature,
      keys: [certificate.armor()],
      profile: "terraform" as const,
      now,
    };
    expect(decideSignature(question)).toMatchObject({ accepted: true });
  });

  it("counts over text that begins with a line end", () => {
    const made = forgeSignature(key, Buffer.from("\r\nx"), {
      type: 1,
      createdAt: today - 60,
    });
    const question = {
      document: Buffer.from("\nx"),
      signature: packet(2, made),
      keys: [certificate.armor()],
      profile: "terraform" as const,
      now,
    };
    expect(decideSignature(question)).toMatchObject({ accepted: true });
  });

  it("is unreadable when it names no issuer", async () => {
    const anonymous = signDocument(key, { anonymous: true });
    expect(await outcome([certificate], anonymous)).toBe(
      "unreadable-signature",
    );
  });

  it.each([0x02, 0x10, 0x1f, 0x40])("is refused as type %i", async (type) => {
    expect(await outcome([certificate], signDocument(key, { type }))).toBe(
      "bad-signature",
    );
  });
});

describe("as go-crypto reads it, also against RFC 9580", () => {
  const key = forgeKey(today - 1000);
  const certificate = new Certificate(key).userId("maker");

  it("EdDSA over a digest that RFC 9580 calls too short is accepted", async () => {
    const signature = signDocument(key, { hash: 2 });
    expect(await outcome([certificate], signature)).toBe("ok");
  });

  it("wrong left 16 bits of the digest are accepted in version 4 and refused in version 6", async () => {
    const key6 = forgeKey(today - 1000, { version: 6 });
    const certificate6 = new Certificate(key6).direct(0x1f, {
      subpackets: [keyFlags(3)],
    });
    const spoil = (signature: Buffer, after: number) => {
      const left = signature.length - after - 2;
      signature.writeUInt16BE(signature.readUInt16BE(left) ^ 0xffff, left);
      return signature;
    };
    const signature = spoil(signDocument(key), 64);
    expect(await outcome([certificate], signature)).toBe("ok");
    const signature6 = spoil(signDocument(key6), 64 + 17);
    expect(await outcome([certificate6], signature6)).toBe("bad-signature");
    expect(await outcome([certificate6], signDocument(key6))).toBe("ok");
  });

  it("a length of a number that is not its own is accepted when its octets are as many", async () => {
    const rsa = forgeKey(today - 1000, { kind: "rsa1024" });
    const signature = signDocument(rsa);
    const length = signature.length - 128 - 2;
    const bits = signature.readUInt16BE(length);
    signature.writeUInt16BE(bits === 1023 ? 1022 : 1023, length);
    expect(
      await outcome([new Certificate(rsa).userId("maker")], signature),
    ).toBe("ok");
  });
});

describe("what openpgp.js makes", () => {
  const v6 = { v6Keys: true };
  const kinds: readonly (readonly [string, Partial<openpgp.KeyOptions>])[] = [
    ["v4, legacy Ed25519", { type: "ecc", curve: "ed25519Legacy" }],
    ["v4, P-384", { type: "ecc", curve: "nistP384" }],
    ["v4, RSA", { type: "rsa", rsaBits: 2048 }],
    ["v4, Ed25519", { type: "curve25519" }],
    ["v6, Ed25519", { type: "curve25519", config: v6 }],
    ["v6, Ed448", { type: "curve448", config: v6 }],
  ];

  it.each(kinds)("is accepted with a subkey: %s", async (_name, options) => {
    const date = new Date(now.getTime() - 86_400_000);
    const { privateKey, publicKey } = await openpgp.generateKey({
      ...structuredClone(options),
      subkeys: [{ sign: true }],
      userIDs: [{ name: "maker" }],
      format: "object",
      date,
    });
    const binary = new Uint8Array(document);
    const signature: unknown = await openpgp.sign({
      message: await openpgp.createMessage({ binary }),
      signingKeys: privateKey,
      detached: true,
      format: "binary",
      date,
    });
    const decision = await decide(
      [publicKey.armor()],
      signature as Uint8Array,
      "strict",
    );
    expect(decision).toMatchObject({
      accepted: true,
      signedBy: publicKey.getFingerprint().toUpperCase(),
      createdAt: date,
    });
  });
});

it("names the rules and the library that computes", () => {
  expect(decisionVersion).toMatch(
    /^provender openpgp \d+\.\d+, node \d+\.\d+\.\d+, openssl \d+\.\d+\.\d+/,
  );
});
