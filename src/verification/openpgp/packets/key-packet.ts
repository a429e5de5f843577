import { createHash, ECDH } from "node:crypto";
import { ByteReader, formatHex, readMpi, type Mpi } from "./bytes.ts";
import { Malformed, Unreadable, Unsupported } from "./refusal.ts";

/** A primary key or subkey (RFC 9580, 5.5.2). */
export interface PublicKey {
  readonly version: number;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly algorithm: number;
  readonly fingerprint: string;
  readonly keyId: string;
  /** The packet's body without any secret part. */
  readonly body: Uint8Array;
  /** The octets that stand for this key in what is signed (RFC 9580, 5.2.4). */
  readonly hashed: Uint8Array;
  /** The numbers of RSA (n, e), DSA (p, q, g, y) and ElGamal. */
  readonly numbers: readonly Mpi[];
  /** Of ECDSA, by OpenSSL's name. */
  readonly curve: string | undefined;
}

type Material = Pick<PublicKey, "numbers" | "curve">;

type CurveUse = "ecdsa" | "eddsa" | "ecdh";

interface Curve {
  readonly uses: readonly CurveUse[];
  /** Of its points, with the leading octet, where a point has one size. */
  readonly pointOctets?: number;
  /** OpenSSL's name, for the check that a point is on the curve. */
  readonly name?: string;
}

const weierstrass = (name: string): Curve => ({
  uses: ["ecdsa", "ecdh"],
  name,
});

const curves: Readonly<Record<string, Curve>> = {
  "2A8648CE3D030107": weierstrass("prime256v1"),
  "2B81040022": weierstrass("secp384r1"),
  "2B81040023": weierstrass("secp521r1"),
  "2B8104000A": weierstrass("secp256k1"),
  "2B2403030208010107": weierstrass("brainpoolP256r1"),
  "2B240303020801010B": weierstrass("brainpoolP384r1"),
  "2B240303020801010D": weierstrass("brainpoolP512r1"),
  "2B060104019755010501": { uses: ["ecdh"], pointOctets: 33 },
  "2B656F": { uses: ["ecdh"], pointOctets: 57 },
  "2B06010401DA470F01": { uses: ["eddsa"], pointOctets: 33 },
  "2B6571": { uses: ["eddsa"], pointOctets: 58 },
};
const legacy25519 = ["2B060104019755010501", "2B06010401DA470F01"];

/** `secret`: a secret key packet, whose secret part is left unread. Throws Malformed, Unsupported or Unreadable. */
export function readPublicKey(packet: Uint8Array, secret: boolean): PublicKey {
  const reader = new ByteReader(packet);
  const version = reader.number(1);
  const createdAt = reader.number(4);
  const algorithm = reader.number(1);
  if (version !== 4 && version !== 6)
    throw new Unsupported(`key version ${version}`);
  if (version === 6) reader.take(4);
  const materialStart = reader.position;
  const { numbers, curve } = readMaterial(reader, version, algorithm);
  if (!secret && reader.left > 0)
    throw new Unreadable("octets after the key material");
  const material = packet.subarray(materialStart, reader.position);
  const body = Buffer.concat([
    packet.subarray(0, 6),
    version === 6 ? formatLength(material.length, 4) : Buffer.of(),
    material,
  ]);
  return {
    version,
    createdAt,
    algorithm,
    numbers,
    curve,
    body,
    ...identify(version, body),
  };
}

function identify(
  version: number,
  body: Uint8Array,
): Pick<PublicKey, "hashed" | "fingerprint" | "keyId"> {
  const hashed = Buffer.concat([
    Buffer.of(0x95 + version),
    formatLength(body.length, version === 6 ? 4 : 2),
    body,
  ]);
  const digest = createHash(version === 6 ? "sha256" : "sha1").update(hashed);
  const fingerprint = formatHex(digest.digest());
  const keyId =
    version === 6 ? fingerprint.slice(0, 16) : fingerprint.slice(-16);
  return { hashed, fingerprint, keyId };
}

function formatLength(length: number, octets: number): Buffer {
  const field = Buffer.alloc(octets);
  field.writeUIntBE(length, 0, octets);
  return field;
}

const noNumbers: Material = { numbers: [], curve: undefined };

function readMaterial(
  reader: ByteReader,
  version: number,
  algorithm: number,
): Material {
  switch (algorithm) {
    case 1:
    case 2:
    case 3:
      return readRsa(reader);
    case 16:
      return readNumbers(reader, 3);
    case 17:
      return readNumbers(reader, 4);
    case 18:
      return readEcdh(reader, version);
    case 19:
      return readEcdsa(reader);
    case 22:
      return readEddsa(reader, version);
    case 25:
    case 27:
      reader.take(32);
      return noNumbers;
    case 26:
      reader.take(56);
      return noNumbers;
    case 28:
      reader.take(57);
      return noNumbers;
    default:
      throw new Unsupported(`public key algorithm ${algorithm}`);
  }
}

function readNumbers(reader: ByteReader, count: number): Material {
  const numbers = Array.from({ length: count }, () => readMpi(reader));
  return { numbers, curve: undefined };
}

function readRsa(reader: ByteReader): Material {
  const material = readNumbers(reader, 2);
  if ((material.numbers[1]?.bytes.length ?? 0) > 3)
    throw new Unsupported("an RSA exponent of more than 24 bits");
  return material;
}

function readEcdsa(reader: ByteReader): Material {
  const oid = readObjectIdentifier(reader);
  if (curves[oid] === undefined) throw unknownCurve(oid);
  const point = readMpi(reader).bytes;
  const { name } = findCurve(oid, "ecdsa");
  if (name === undefined || !isOnCurve(point, name))
    throw new Unreadable("an ECDSA point that is not on its curve");
  return { numbers: [], curve: name };
}

function isOnCurve(point: Uint8Array, curve: string): boolean {
  if (point[0] !== 4) return false;
  try {
    ECDH.convertKey(point, curve);
    return true;
  } catch {
    return false;
  }
}

function readEddsa(reader: ByteReader, version: number): Material {
  if (version === 6) throw new Malformed("legacy EdDSA in a v6 key");
  const { pointOctets } = findCurve(readObjectIdentifier(reader), "eddsa");
  const point = readMpi(reader).bytes;
  if (point.length === 0) throw new Malformed("an empty EdDSA point");
  if (point[0] !== 0x40) throw new Unsupported("a compressed EdDSA point");
  if (point.length !== pointOctets)
    throw new Unreadable("an EdDSA point of another size");
  return noNumbers;
}

function readEcdh(reader: ByteReader, version: number): Material {
  const oid = readObjectIdentifier(reader);
  if (curves[oid] === undefined) throw unknownCurve(oid);
  if (version === 6 && legacy25519.includes(oid))
    throw new Malformed("legacy Curve25519 in a v6 key");
  const point = readMpi(reader).bytes;
  const [reserved, hash = 0, cipher = 0] = readPrefixed(reader);
  const { pointOctets } = findCurve(oid, "ecdh");
  const hashes = [8, 9, 10, 11, 12, 14];
  if (
    reserved !== 1 ||
    !hashes.includes(hash) ||
    ![2, 3, 7, 8, 9].includes(cipher)
  )
    throw new Unsupported("key derivation parameters");
  if (pointOctets !== undefined && point.length !== pointOctets)
    throw new Unreadable("an ECDH point of another size");
  return noNumbers;
}

function findCurve(oid: string, use: CurveUse): Curve {
  const curve = curves[oid];
  if (!curve?.uses.includes(use)) throw unknownCurve(oid);
  return curve;
}

function unknownCurve(oid: string): Unsupported {
  return new Unsupported(`curve ${oid}`);
}

function readObjectIdentifier(reader: ByteReader): string {
  return formatHex(readPrefixed(reader));
}

/** A field after one octet of its length; 0 and 255 are reserved (RFC 9580, 9.2). */
function readPrefixed(reader: ByteReader): Uint8Array {
  const length = reader.number(1);
  if (length === 0 || length === 255)
    throw new Unsupported("a reserved length");
  return reader.take(length);
}
