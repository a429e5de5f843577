import { readFileSync } from "node:fs";
import * as openpgp from "openpgp";
import { describe, expect, it } from "vitest";
import {
  decideSignature,
  decisionLibrary,
  type SignatureProfile,
} from "../../src/verification/signature.ts";
import {
  Certificate,
  decide,
  document,
  now,
  outcome,
  signDocument,
  today,
} from "./signature-certificates.ts";
import {
  forgeKey,
  issuerKeyId,
  keyFlags,
  keyIdOf,
  packet,
} from "./signature-forge.ts";

interface Vector {
  readonly name: string;
  readonly keys: readonly string[];
  readonly document: string;
  readonly signature: string;
  readonly expect: Readonly<
    Record<"terraform" | "opentofu" | "enforce", string>
  >;
}

const fixture = new URL(
  "../fixtures/openpgp-signatures.jsonl",
  import.meta.url,
);
const vectors = readFileSync(fixture, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Vector);
const profiles = ["terraform", "opentofu", "enforce"] as const;

function ask(
  vector: Vector,
  profile: SignatureProfile,
  signature?: Uint8Array,
) {
  return decideSignature({
    document: Buffer.from(vector.document, "base64"),
    signature: signature ?? Buffer.from(vector.signature, "base64"),
    keys: vector.keys,
    profile,
    now,
  });
}

function findVector(name: string): Vector {
  const vector = vectors.find((one) => one.name === name);
  if (!vector) throw new Error(`no vector ${name}`);
  return vector;
}

describe("the clients' own answers", () => {
  it("are there for 79 signatures", () => {
    expect(vectors).toHaveLength(79);
  });

  it.each(vectors)("are given to $name", async (vector) => {
    for (const profile of profiles) {
      const { accepted } = await ask(vector, profile);
      expect([profile, accepted ? "accept" : "reject"]).toEqual([
        profile,
        vector.expect[profile],
      ]);
    }
  });
});

describe("a signature with one bit flipped", () => {
  const signer = forgeKey(today - 1000);
  const signer6 = forgeKey(today - 1000, { version: 6 });
  const own = new Certificate(signer).userId("maker");
  const own6 = new Certificate(signer6).direct(0x1f, {
    subpackets: [keyFlags(3)],
  });
  const issuerUnhashed = signDocument(signer, {
    anonymous: true,
    unhashed: [issuerKeyId(signer)],
  });
  const cases: readonly (readonly [
    string,
    readonly string[],
    Uint8Array,
    Uint8Array,
  ])[] = [
    ...[
      "notation-noncritical",
      "algo-ed25519",
      "algo-nistp256",
      "v4 issuer keyid only unhashed",
      "v4 type 0x01 text",
      "RSA short MPI signature",
    ].map((name) => {
      const { keys, signature, document } = findVector(name);
      return [
        name,
        keys,
        Buffer.from(signature, "base64"),
        Buffer.from(document, "base64"),
      ] as const;
    }),
    ["fingerprint hashed", [own.armor()], signDocument(signer), document],
    ["issuer key ID unhashed", [own.armor()], issuerUnhashed, document],
    ["version 6", [own6.armor()], signDocument(signer6), document],
  ];

  it.each(cases)(
    "is refused at every offset: %s",
    async (_name, keys, signature, signed) => {
      const flipped: number[] = [];
      for (let bit = 0; bit < signature.length * 8; bit++) {
        const copy = Buffer.from(signature);
        copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const question = {
          document: signed,
          signature: copy,
          keys,
          profile: "opentofu" as const,
          now,
        };
        if ((await decideSignature(question)).accepted) flipped.push(bit);
      }
      const question = {
        document: signed,
        signature,
        keys,
        profile: "opentofu" as const,
        now,
      };
      expect((await decideSignature(question)).accepted).toBe(true);
      expect(flipped).toEqual([]);
    },
  );
});

describe("a signature's own form", () => {
  const key = forgeKey(today - 1000);
  const certificate = new Certificate(key).userId("maker");

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
    const armored = await openpgp.armor(
      openpgp.enums.armor.signature,
      signDocument(key),
    );
    expect(await outcome([certificate], Buffer.from(armored))).toBe(
      "unreadable-signature",
    );
  });

  it("is refused when its issuer fingerprint is that of another key with the same key ID", async () => {
    const foreign = Buffer.from(`04${"00".repeat(12)}${keyIdOf(key)}`, "hex");
    const signature = signDocument(key, {
      anonymous: true,
      subpackets: [{ type: 33, content: foreign }],
    });
    expect(await outcome([certificate], signature)).toBe("bad-signature");
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

  it("counts over text with the line ends made CRLF", async () => {
    const text = Buffer.from("one\r\ntwo\nthree\r\r\n\n");
    const signed = Buffer.from("one\r\ntwo\r\nthree\r\r\r\n\r\n");
    const { signDocument: _unused, ...rest } = {
      signDocument,
      rest: undefined,
    };
    void rest;
    const { forgeSignature } = await import("./signature-forge.ts");
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
    expect(await decideSignature(question)).toMatchObject({ accepted: true });
  });

  it.each([0x02, 0x10, 0x1f, 0x40])("is refused as type %i", async (type) => {
    expect(await outcome([certificate], signDocument(key, { type }))).toBe(
      "bad-signature",
    );
  });
});

describe("what openpgp.js makes", () => {
  const kinds = [
    [
      "a v4 key with a legacy Ed25519 primary",
      { type: "ecc", curve: "ed25519Legacy" },
    ],
    ["a v4 key on P-384", { type: "ecc", curve: "nistP384" }],
    ["a v4 RSA key", { type: "rsa", rsaBits: 2048 }],
    [
      "a v4 key with a signing subkey",
      { type: "curve25519", subkeys: [{ sign: true }] },
    ],
    ["a v6 key", { type: "curve25519", config: { v6Keys: true } }],
    [
      "a v6 Ed448 key with a signing subkey",
      { type: "curve448", subkeys: [{ sign: true }], config: { v6Keys: true } },
    ],
  ] as const;

  it.each(kinds)("is accepted: %s", async (_name, options) => {
    const date = new Date(now.getTime() - 86_400_000);
    const { privateKey, publicKey } = await openpgp.generateKey({
      userIDs: [{ name: "maker" }],
      format: "object",
      date,
      ...structuredClone(options),
    } as openpgp.GenerateKeyOptions & { format: "object" });
    const message = await openpgp.createMessage({
      binary: new Uint8Array(document),
    });
    const signature = await openpgp.sign({
      message,
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

it("names the library that computes", () => {
  expect(decisionLibrary).toMatch(/^openpgp \d+\.\d+\.\d+$/);
});
