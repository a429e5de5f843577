import { generateKeyPairSync, type KeyObject } from "node:crypto";

/** Algorithm and public material of a key packet, with the private key. */
export interface KeyMaterial {
  readonly algorithm: number;
  readonly privateKey: KeyObject;
  readonly material: Buffer;
}

export type KeyKind = "p256" | "ed25519" | "dsa" | `rsa${number}`;

export function forgeMaterial(kind: KeyKind): KeyMaterial {
  if (kind === "ed25519") return forgeEd25519();
  if (kind === "dsa") return forgeDsa();
  if (kind === "p256") return forgeP256();
  return forgeRsa(Number(kind.slice(3)));
}

function forgeEd25519(): KeyMaterial {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const spki = publicKey.export({ format: "der", type: "spki" });
  return { algorithm: 27, privateKey, material: spki.subarray(-32) };
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

function forgeP256(): KeyMaterial {
  const { privateKey, publicKey } = generateKeyPairSync("ec", {
    namedCurve: "prime256v1",
  });
  const point = publicKey.export({ format: "der", type: "spki" }).subarray(-65);
  const oid = Buffer.from("082a8648ce3d030107", "hex");
  const material = Buffer.concat([oid, mpi(point)]);
  return { algorithm: 19, privateKey, material };
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
