import { createPublicKey, type KeyObject } from "node:crypto";
import { trimZeros, type Mpi } from "./bytes.ts";
import type { PublicKey } from "./key-packet.ts";

/** Object identifiers of SubjectPublicKeyInfo (RFC 3279, 5480 and 8410). */
const oids = {
  rsa: "2A864886F70D010101",
  dsa: "2A8648CE380401",
  ec: "2A8648CE3D0201",
  ed25519: "2B6570",
  ed448: "2B6571",
};

/** OpenSSL's form of the key; throws where OpenSSL takes none of these values. */
export function importKey(key: PublicKey): KeyObject {
  const der = formatSpki(key);
  return createPublicKey({
    key: Buffer.from(der.buffer, der.byteOffset, der.length),
    format: "der",
    type: "spki",
  });
}

function formatSpki(key: PublicKey): Buffer {
  const { algorithm, curve = "", point = Buffer.of() } = key;
  const integers = key.numbers.map(formatInteger);
  switch (algorithm) {
    case 1:
    case 3:
      return spki([oid(oids.rsa), element(5, [])], sequence(integers));
    case 17: {
      const [y = Buffer.of()] = integers.splice(3);
      return spki([oid(oids.dsa), sequence(integers)], y);
    }
    case 19:
      return spki([oid(oids.ec), oid(curve)], point);
    default:
      return spki(
        [oid(point.length === 32 ? oids.ed25519 : oids.ed448)],
        point,
      );
  }
}

function spki(algorithm: readonly Buffer[], key: Uint8Array): Buffer {
  const bits = element(3, [Buffer.of(0), key]);
  return sequence([sequence(algorithm), bits]);
}

function sequence(elements: readonly Uint8Array[]): Buffer {
  return element(0x30, elements);
}

function oid(hex: string): Buffer {
  return element(6, [Buffer.from(hex, "hex")]);
}

function formatInteger({ bytes }: Mpi): Buffer {
  const value = trimZeros(bytes);
  const isPositive = value.length > 0 && (value[0] ?? 0) < 0x80;
  return element(2, isPositive ? [value] : [Buffer.of(0), value]);
}

function element(tag: number, parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const header = Buffer.of(tag, 0x84, 0, 0, 0, 0);
  header.writeUInt32BE(content.length, 2);
  return Buffer.concat([header, content]);
}
