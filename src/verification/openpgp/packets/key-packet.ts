import { createHash } from "node:crypto";
import { algorithms } from "./algorithms.ts";
import { formatHex, formatNumber, takeMpi, type Mpi } from "./bytes.ts";
import {
  curves,
  isOnCurve,
  legacy25519,
  type Curve,
  type CurveUse,
} from "./curves.ts";
import { takeNumber, type Octets } from "./octets.ts";
import { Malformed, Unreadable, Unsupported } from "./refusal.ts";

/** A primary key or subkey (RFC 9580, 5.5.2). */
export interface PublicKey extends KeyMaterial {
  readonly version: number;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly algorithm: number;
  readonly fingerprint: string;
  readonly keyId: string;
  /** The octets that stand for this key in what is signed (RFC 9580, 5.2.4). */
  readonly hashed: Uint8Array;
}

interface KeyMaterial {
  /** Numbers of RSA (n, e), DSA (p, q, g, y) and ElGamal. */
  readonly numbers: readonly Mpi[];
  /**
   * Object identifier of the curve of ECDSA, ECDH and legacy EdDSA, in
   * hexadecimal.
   */
  readonly curve?: string;
  /**
   * Point of every elliptic curve, without the leading octet of legacy EdDSA's.
   */
  readonly point?: Uint8Array;
}

/** Leaves the rest of the packet unread. Throws Malformed, Unsupported or Unreadable. */
export function readPublicKey(octets: Octets): PublicKey {
  const head = octets.take(6);
  const [version = 0] = head;
  if (version !== 4 && version !== 6)
    throw new Unsupported(`key version ${version}`);
  if (version === 6) octets.take(4);
  const algorithm = head[5] ?? 0;
  const start = octets.position;
  const material = readMaterial(octets, version, algorithm);
  const fields = octets.since(start);
  const body = Buffer.concat([
    head,
    ...(version === 6 ? [formatNumber(fields.length, 4)] : []),
    fields,
  ]);
  const createdAt = Buffer.from(head).readUInt32BE(1);
  return {
    ...{ version, createdAt, algorithm },
    ...material,
    ...identify(version, body),
  };
}

/** `body` is that of the whole packet. */
export function identify(
  version: number,
  body: Uint8Array,
): Pick<PublicKey, "hashed" | "fingerprint" | "keyId"> {
  const hashed = Buffer.concat([
    Buffer.of(0x95 + version),
    formatNumber(body.length, version === 6 ? 4 : 2),
    body,
  ]);
  const digest = createHash(version === 6 ? "sha256" : "sha1").update(hashed);
  const fingerprint = formatHex(digest.digest());
  const keyId =
    version === 6 ? fingerprint.slice(0, 16) : fingerprint.slice(-16);
  return { hashed, fingerprint, keyId };
}

function readMaterial(
  octets: Octets,
  version: number,
  algorithm: number,
): KeyMaterial {
  const { keyNumbers, keyOctets } = algorithms[algorithm] ?? {};
  if (keyOctets !== undefined)
    return { numbers: [], point: octets.takeOrEnd(keyOctets) };
  if (keyNumbers !== undefined) return readNumbers(octets, keyNumbers);
  switch (algorithm) {
    case 18:
      return readEcdh(octets, version);
    case 19:
      return readEcdsa(octets);
    case 22:
      return readEddsa(octets, version);
    default:
      throw new Unsupported(`public key algorithm ${algorithm}`);
  }
}

/** The second number is an exponent where it is the last one, in RSA. */
function readNumbers(octets: Octets, count: number): KeyMaterial {
  const numbers = Array.from({ length: count }, () => takeMpi(octets));
  if (count === 2 && (numbers[1]?.bytes.length ?? 0) > 3)
    throw new Unsupported("an RSA exponent of more than 24 bits");
  return { numbers };
}

function readEcdsa(octets: Octets): KeyMaterial {
  const curve = takeCurve(octets);
  const point = takeMpi(octets).bytes;
  const { name } = expectUse(curve, "ecdsa");
  if (name === undefined || !isOnCurve(point, name))
    throw new Unreadable("an ECDSA point that is not on its curve");
  return { numbers: [], curve, point };
}

function readEddsa(octets: Octets, version: number): KeyMaterial {
  if (version === 6) throw new Malformed("legacy EdDSA in a v6 key");
  const curve = takeCurve(octets);
  const { pointOctets } = expectUse(curve, "eddsa");
  const point = takeMpi(octets).bytes;
  if (point.length === 0) throw new Malformed("an empty EdDSA point");
  if (point[0] !== 0x40) throw new Unsupported("a compressed EdDSA point");
  if (point.length !== pointOctets)
    throw new Unreadable("an EdDSA point of another size");
  return { numbers: [], curve, point: point.subarray(1) };
}

function readEcdh(octets: Octets, version: number): KeyMaterial {
  const curve = takeCurve(octets);
  if (version === 6 && legacy25519.includes(curve))
    throw new Malformed("legacy Curve25519 in a v6 key");
  const point = takeMpi(octets).bytes;
  // Skips the key derivation parameters: no session key is derived here.
  takePrefixed(octets);
  const { pointOctets } = expectUse(curve, "ecdh");
  if (pointOctets !== undefined && point.length !== pointOctets)
    throw new Unreadable("an ECDH point of another size");
  return { numbers: [], curve, point };
}

function takeCurve(octets: Octets): string {
  const curve = formatHex(takePrefixed(octets));
  if (curves[curve] === undefined) throw new Unsupported(`curve ${curve}`);
  return curve;
}

function expectUse(name: string, use: CurveUse): Curve {
  const curve = curves[name];
  if (!curve?.uses.includes(use))
    throw new Unsupported(`curve ${name} for ${use}`);
  return curve;
}

/** A field after one octet of its length; 255 is reserved (RFC 9580, 9.2), and so is 0, of which nothing here is made. */
function takePrefixed(octets: Octets): Uint8Array {
  const length = takeNumber(octets, 1);
  if (length === 255) throw new Unsupported("a reserved length");
  return octets.take(length);
}
