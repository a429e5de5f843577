import { generateKeyPairSync, type KeyObject } from "node:crypto";

/** Algorithm and public material of a key packet, with the private key. */
export interface KeyMaterial {
  readonly algorithm: number;
  readonly privateKey: KeyObject;
  readonly material: Buffer;
}

/** `eddsa` is Ed25519 as older version 4 keys have it. */
export type KeyKind =
  keyof typeof curves | "ed25519" | "ed448" | "eddsa" | "dsa" | `rsa${number}`;

/** OpenSSL's name, and the object identifier after its length. */
const curves = {
  p256: ["prime256v1", "082a8648ce3d030107"],
  p384: ["secp384r1", "052b81040022"],
  p521: ["secp521r1", "052b81040023"],
  secp256k1: ["secp256k1", "052b8104000a"],
  brainpool256: ["brainpoolP256r1", "092b2403030208010107"],
  brainpool384: ["brainpoolP384r1", "092b240303020801010b"],
  brainpool: ["brainpoolP512r1", "092b240303020801010d"],
} as const;

export const keyKinds: readonly KeyKind[] = [
  ...(Object.keys(curves) as (keyof typeof curves)[]),
  ...(["ed25519", "ed448", "eddsa", "dsa", "rsa1024", "rsa2048"] as const),
];

export function forgeMaterial(kind: KeyKind): KeyMaterial {
  if (kind === "ed25519" || kind === "eddsa") return forgeEd25519(kind);
  if (kind === "ed448") return forgeEd448();
  if (kind === "dsa") return forgeDsa();
  if (kind in curves) return forgeEcdsa(kind as keyof typeof curves);
  return forgeRsa(Number(kind.slice(3)));
}

function forgeEd25519(kind: "ed25519" | "eddsa"): KeyMaterial {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const point = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  if (kind === "ed25519") return { algorithm: 27, privateKey, material: point };
  const oid = Buffer.from("092b06010401da470f01", "hex");
  const material = [oid, mpi(Buffer.concat([Buffer.of(0x40), point]))];
  return { algorithm: 22, privateKey, material: Buffer.concat(material) };
}

function forgeEd448(): KeyMaterial {
  const { privateKey, publicKey } = generateKeyPairSync("ed448");
  const spki = publicKey.export({ format: "der", type: "spki" });
  return { algorithm: 28, privateKey, material: spki.subarray(-57) };
}

function forgeDsa(): KeyMaterial {
  const { privateKey, publicKey } = generateKeyPairSync("dsa", {
    modulusLength: 1024,
    divisorLength: 160,
  });
  const numbers = integersIn(publicKey.export({ format: "der", type: "spki" }));
  const material = Buffer.concat(numbers.map(mpi));
  return { algorithm: 17, privateKey, material };
}

/** Those of DER, in order: past the tag and length of everything that holds others. */
function integersIn(der: Buffer): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < der.length;) {
    const tag = der[at];
    const long = (der[at + 1] ?? 0) - 0x80;
    const header = long > 0 ? 2 + long : 2;
    const length = long > 0 ? der.readUIntBE(at + 2, long) : der[at + 1];
    const content = der.subarray(at + header, at + header + (length ?? 0));
    if (tag === 2) found.push(content);
    const isOuter = tag === 0x30 || tag === 3;
    at += header + (isOuter ? Number(tag === 3) : content.length);
  }
  return found;
}

function forgeRsa(modulusLength: number): KeyMaterial {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength,
  });
  const { n = "", e = "" } = publicKey.export({ format: "jwk" });
  const material = Buffer.concat(
    [n, e].map((field) => mpi(Buffer.from(field, "base64url"))),
  );
  return { algorithm: 1, privateKey, material };
}

function forgeEcdsa(kind: keyof typeof curves): KeyMaterial {
  const [namedCurve, oid] = curves[kind];
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve });
  const spki = publicKey.export({ format: "der", type: "spki" });
  const point = spki.subarray(-pointOctets(kind));
  const material = Buffer.concat([Buffer.from(oid, "hex"), mpi(point)]);
  return { algorithm: 19, privateKey, material };
}

function pointOctets(kind: keyof typeof curves): number {
  if (kind === "p521") return 1 + 2 * 66;
  if (kind === "brainpool") return 1 + 2 * 64;
  return kind.endsWith("384") ? 1 + 2 * 48 : 1 + 2 * 32;
}

/** A number as OpenPGP writes it (RFC 9580, 3.2). */
export function mpi(value: Buffer): Buffer {
  const start = value.findIndex((octet) => octet !== 0);
  const bytes = start < 0 ? Buffer.of() : value.subarray(start);
  const bits = bytes.length * 8 - (bytes[0] ? Math.clz32(bytes[0]) - 24 : 0);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bits);
  return Buffer.concat([length, bytes]);
}
