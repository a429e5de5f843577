import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  decideSignature,
  type SignatureProfile,
} from "../../../src/verification/openpgp/signature.ts";
import {
  Certificate,
  document,
  now,
  signDocument,
  today,
} from "./certificates.ts";
import { forgeKey, issuerKeyId, keyFlags } from "./forge.ts";

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
  "../../fixtures/openpgp-signatures.jsonl",
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

  it.each(vectors)("are given to $name", (vector) => {
    for (const profile of profiles) {
      const { accepted } = ask(vector, profile);
      expect([profile, accepted ? "accept" : "reject"]).toEqual([
        profile,
        vector.expect[profile],
      ]);
    }
  });
});

describe("under strict", () => {
  it.each([
    ["hash-SHA384", "accepted"],
    ["hash-SHA1", "weak"],
    ["selfsig-sha1", "weak"],
    ["algo-dsa2048", "weak"],
    ["key-expired-sig-before", "key-expired"],
    ["armor indented lines", "unreadable-key"],
  ])("%s is %s", (name, expected) => {
    const decision = ask(findVector(name), "strict");
    expect(decision.accepted ? "accepted" : decision.reason).toBe(expected);
  });
});

/** Where what is hashed begins and ends in a signature packet. */
function findHashed(signature: Uint8Array): readonly [number, number] {
  const octets = Buffer.from(signature);
  const isOld = (octets[0] ?? 0) < 0xc0;
  const lengths = isOld
    ? 1 << ((octets[0] ?? 0) & 3)
    : octets[1] === 255
      ? 5
      : 1;
  const body =
    1 + (!isOld && (octets[1] ?? 0) >= 192 && octets[1] !== 255 ? 2 : lengths);
  const length =
    octets[body] === 6
      ? 8 + octets.readUInt32BE(body + 4)
      : 6 + octets.readUInt16BE(body + 4);
  return [body, body + length];
}

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
    "is refused wherever something protects it: %s",
    (_name, keys, signature, signed) => {
      const [start, end] = findHashed(signature);
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
        if (decideSignature(question).accepted) flipped.push(bit >> 3);
      }
      const question = {
        document: signed,
        signature,
        keys,
        profile: "opentofu" as const,
        now,
      };
      expect(decideSignature(question).accepted).toBe(true);
      const values = signature.length - 32;
      expect(
        flipped.filter((at) => (at >= start && at < end) || at >= values),
      ).toEqual([]);
    },
  );
});
