import { ByteReader, readMpi, type Mpi } from "./bytes.ts";
import { Malformed, Unreadable, Unsupported } from "./refusal.ts";
import {
  issuerTypes,
  readProperties,
  splitSubpackets,
  type SignatureProperties,
  type Subpacket,
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
export interface SignaturePacket extends Readonly<
  Omit<SignatureProperties, "embedded" | "createdAt">
> {
  readonly version: number;
  readonly type: number;
  readonly algorithm: number;
  readonly hash: number;
  readonly createdAt: number;
  /** The signature of a signing subkey over its primary. */
  readonly crossSignature: SignaturePacket | undefined;
  readonly issuers: readonly Subpacket[];
  readonly unhashed: readonly Subpacket[];
  readonly numbers: readonly Mpi[];
  readonly body: Uint8Array;
}

export const sha1 = 2;
const saltOctets: Readonly<Record<number, number>> = {
  8: 16,
  9: 24,
  10: 32,
  11: 16,
  12: 16,
  14: 32,
};
const numbersOf: Readonly<Record<number, number>> = {
  1: 1,
  3: 1,
  17: 2,
  19: 2,
  22: 2,
  27: 0,
  28: 0,
};
const nativeOctets: Readonly<Record<number, number>> = { 27: 64, 28: 114 };

/** Throws Malformed, Unsupported or Unreadable. */
export function readSignaturePacket(
  body: Uint8Array,
  isEmbedded = false,
): SignaturePacket {
  const reader = new ByteReader(body);
  const head = readHead(reader);
  const { version } = head;
  const hashed = readArea(reader, version);
  // In this order: what is wrong with the hashed area counts before the rest.
  readProperties(version, hashed, []);
  const unhashed = readArea(reader, version);
  const {
    embedded,
    createdAt = 0,
    ...properties
  } = readProperties(version, hashed, unhashed);
  const crossSignature = embedded && readCrossSignature(embedded, isEmbedded);
  reader.take(2);
  if (version === 6) readSalt(reader, head.hash);
  const numbers = readNumbers(reader, head.algorithm);
  if (reader.left > 0) throw new Unreadable("octets after the signature");
  return {
    ...head,
    ...properties,
    createdAt,
    crossSignature,
    unhashed,
    numbers,
    body,
    issuers: [...hashed, ...unhashed].filter(({ type }) =>
      issuerTypes.includes(type),
    ),
  };
}

function readHead(
  reader: ByteReader,
): Pick<SignaturePacket, "version" | "type" | "algorithm" | "hash"> {
  const version = reader.number(1);
  if (version !== 4 && version !== 6)
    throw new Unsupported(`signature version ${version}`);
  const type = reader.number(1);
  const algorithm = reader.number(1);
  const hash = reader.number(1);
  if (numbersOf[algorithm] === undefined)
    throw new Unsupported(`signature algorithm ${algorithm}`);
  if (saltOctets[hash] === undefined && !(version === 4 && hash === sha1))
    throw new Unsupported(`hash algorithm ${hash}`);
  return { version, type, algorithm, hash };
}

function readArea(reader: ByteReader, version: number): readonly Subpacket[] {
  return splitSubpackets(reader.take(reader.number(version === 6 ? 4 : 2)));
}

function readSalt(reader: ByteReader, hash: number): void {
  const octets = reader.number(1);
  if (octets !== saltOctets[hash])
    throw new Malformed("a salt of the wrong size");
  reader.take(octets);
}

function readNumbers(reader: ByteReader, algorithm: number): readonly Mpi[] {
  reader.take(nativeOctets[algorithm] ?? 0);
  return Array.from({ length: numbersOf[algorithm] ?? 0 }, () =>
    readMpi(reader),
  );
}

function readCrossSignature(
  body: Uint8Array,
  isEmbedded: boolean,
): SignaturePacket {
  if (isEmbedded)
    throw new Malformed("a signature embedded in an embedded one");
  const signature = readSignaturePacket(body, true);
  if (signature.type !== signatureTypes.primaryKeyBinding)
    throw new Malformed("an embedded signature of the wrong type");
  return signature;
}

/** Whether the signature names this key; the fingerprint decides where there is one. */
export function isIssuedBy(
  signature: SignaturePacket,
  key: { readonly fingerprint: string; readonly keyId: string },
): boolean {
  return signature.issuerFingerprint === undefined
    ? signature.issuerKeyId === key.keyId
    : signature.issuerFingerprint === key.fingerprint;
}
