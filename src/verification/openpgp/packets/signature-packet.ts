import { algorithms, canSign, hashes, sha1 } from "./algorithms.ts";
import { formatNumber, takeMpi } from "./bytes.ts";
import { Octets, takeNumber } from "./octets.ts";
import { Malformed, Unsupported } from "./refusal.ts";
import {
  embeddedSignature,
  readSubpacket,
  splitSubpackets,
  unhashedTypes,
  type SignatureProperties,
} from "./subpackets.ts";

/** Signature types (RFC 9580, 5.2.1). */
export const signatureTypes = {
  binary: 0x00,
  text: 0x01,
  subkeyBinding: 0x18,
  primaryKeyBinding: 0x19,
  directKey: 0x1f,
  keyRevocation: 0x20,
  subkeyRevocation: 0x28,
  certificationRevocation: 0x30,
} as const;

/** A signature packet of version 4 or 6 (RFC 9580, 5.2.3); nothing in it is verified. */
export interface SignaturePacket
  extends SignatureHead, Readonly<Omit<SignatureProperties, "createdAt">> {
  readonly createdAt: number;
  /** The signature of a signing subkey over its primary. */
  readonly crossSignature: SignaturePacket | undefined;
  /**
   * Salt that is hashed before the signed octets (version 6); the trailer
   * follows them.
   */
  readonly salt: Uint8Array;
  readonly trailer: Uint8Array;
  /** The first two octets of the hash. */
  readonly hashStart: Uint8Array;
  /** The numbers as they stand, or the one value of Ed25519 and Ed448. */
  readonly values: readonly Uint8Array[];
}

interface SignatureHead {
  readonly version: number;
  readonly type: number;
  readonly algorithm: number;
  readonly hash: number;
}

interface Areas {
  readonly version: number;
  readonly depth: number;
  readonly properties: SignatureProperties;
  crossSignature: SignaturePacket | undefined;
}

/**
 * Depth limit of signatures within signatures. go-crypto has none, and no
 * client makes more than one level.
 */
const deepest = 16;

/** Leaves the rest of the packet unread. Throws Malformed, Unsupported or Unreadable. */
export function readSignaturePacket(
  octets: Octets,
  depth = 0,
): SignaturePacket {
  const start = octets.position;
  const { head, hashedLength } = readHead(octets);
  const { version } = head;
  const areas: Areas = {
    ...{ version, depth, properties: {}, crossSignature: undefined },
  };
  const length = version === 6 ? 4 : 2;
  const hashed = octets.take(hashedLength);
  const trailer = formatTrailer(version, octets.since(start));
  readHashed(areas, hashed);
  readUnhashed(areas, octets.take(takeNumber(octets, length)));
  const hashStart = octets.take(2);
  const salt = version === 6 ? takeSalt(octets, head.hash) : Buffer.of();
  const values = takeValues(octets, head.algorithm, depth);
  const { createdAt = 0, ...properties } = areas.properties;
  const { crossSignature } = areas;
  return {
    ...head,
    ...properties,
    ...{ createdAt, crossSignature, salt, trailer, hashStart, values },
  };
}

function readHead(octets: Octets): {
  readonly head: SignatureHead;
  readonly hashedLength: number;
} {
  const version = takeNumber(octets, 1);
  if (version !== 4 && version !== 6)
    throw new Unsupported(`signature version ${version}`);
  const fields = new Octets(octets.take(version === 6 ? 7 : 5));
  const [type = 0, algorithm = 0, hash = 0] = fields.take(3);
  if (!canSign(algorithm))
    throw new Unsupported(`signature algorithm ${algorithm}`);
  if (hashes[hash] === undefined || (version === 6 && hash === sha1))
    throw new Unsupported(`hash algorithm ${hash}`);
  const hashedLength = takeNumber(fields, version === 6 ? 4 : 2);
  return { head: { version, type, algorithm, hash }, hashedLength };
}

/** `hashed`: from the version to the end of the hashed area. */
function formatTrailer(version: number, hashed: Uint8Array): Uint8Array {
  const length = formatNumber(hashed.length, 4);
  return Buffer.concat([hashed, Buffer.of(version, 0xff), length]);
}

function readHashed(areas: Areas, area: Uint8Array): void {
  const { version, properties } = areas;
  for (const subpacket of splitSubpackets(area)) {
    if (subpacket.type === embeddedSignature)
      readEmbedded(areas, subpacket.content);
    else if (version === 6 && subpacket.type === 16)
      throw new Malformed("a hashed issuer key ID in a v6 signature");
    else readSubpacket(properties, version, subpacket);
  }
  if (properties.createdAt === undefined)
    throw new Malformed("a signature without a creation time");
}

function readUnhashed(areas: Areas, area: Uint8Array): void {
  for (const subpacket of splitSubpackets(area)) {
    if (!unhashedTypes.includes(subpacket.type)) continue;
    if (subpacket.type === embeddedSignature)
      readEmbedded(areas, subpacket.content);
    else readSubpacket(areas.properties, areas.version, subpacket);
  }
}

function readEmbedded(areas: Areas, octets: Uint8Array): void {
  if (areas.crossSignature !== undefined)
    throw new Malformed("two embedded signatures");
  if (areas.depth >= deepest)
    throw new Malformed(`signatures embedded deeper than ${deepest}`);
  const signature = readSignaturePacket(new Octets(octets), areas.depth + 1);
  if (signature.type !== signatureTypes.primaryKeyBinding)
    throw new Malformed("an embedded signature of the wrong type");
  areas.crossSignature = signature;
}

function takeSalt(octets: Octets, hash: number): Uint8Array {
  const length = takeNumber(octets, 1);
  if (length !== hashes[hash]?.saltOctets)
    throw new Malformed("a salt of the wrong size");
  return octets.take(length);
}

function takeValues(
  octets: Octets,
  algorithm: number,
  depth: number,
): readonly Uint8Array[] {
  const { signatureNumbers = 0, signatureOctets } = algorithms[algorithm] ?? {};
  if (signatureOctets === undefined)
    return Array.from(
      { length: signatureNumbers },
      () => takeMpi(octets).bytes,
    );
  return [
    depth === 0
      ? octets.takeOrEnd(signatureOctets)
      : octets.take(signatureOctets),
  ];
}

/**
 * True when the signature names this key. A fingerprint decides where there is
 * one.
 */
export function isIssuedBy(
  signature: SignaturePacket,
  key: { readonly fingerprint: string; readonly keyId: string },
): boolean {
  return signature.issuerFingerprint === undefined
    ? signature.issuerKeyId === key.keyId
    : signature.issuerFingerprint === key.fingerprint;
}
