import type { Arithmetic } from "./packets/arithmetic.ts";
import { Octets } from "./packets/octets.ts";
import { PacketReader, type Packet } from "./packets/packet-reader.ts";
import {
  signatureTypes,
  type SignaturePacket,
} from "./packets/signature-packet.ts";
import { Malformed, Refused, Unreadable } from "./packets/refusal.ts";
import { findPrimarySelfSignature, type Issuer } from "./validity.ts";
import type { SigningKey } from "./keys/signing-key.ts";

/**
 * Signature over the document that verifies, and its issuer; its validity is
 * not checked yet.
 */
export interface Signed {
  readonly signature: SignaturePacket;
  readonly issuer: Issuer;
}

const signFlag = 0x02;

/**
 * Returns the first signature whose issuer is among `keys` (go-crypto's
 * CheckDetachedSignature); later ones are not read. Undefined when there is
 * none. Throws Refused.
 */
export function findSignature(
  signatures: Uint8Array,
  keys: readonly SigningKey[],
  document: Uint8Array,
  arithmetic: Arithmetic,
): Signed | undefined {
  const reader = new PacketReader(new Octets(signatures));
  let packet = takePacket(reader);
  for (; packet; packet = takePacket(reader)) {
    const signature = expectSignature(packet);
    const issuer = findIssuer(signature, keys);
    if (!issuer) continue;
    verifySignature(signature, issuer, document, arithmetic);
    return { signature, issuer };
  }
  return undefined;
}

function takePacket(reader: PacketReader): Packet | undefined {
  try {
    return reader.next();
  } catch (error) {
    if (error instanceof Malformed || error instanceof Unreadable)
      throw unreadable(error.message);
    throw error;
  }
}

function expectSignature(packet: Packet): SignaturePacket {
  if (packet.kind !== "signature")
    throw unreadable("there is a packet that is no signature");
  if (packet.signature.issuerKeyId === undefined)
    throw unreadable("it names no issuer");
  return packet.signature;
}

function unreadable(detail: string): Refused {
  return new Refused(
    "unreadable-signature",
    `the signature is unreadable: ${detail}`,
  );
}

/** The first key of that ID that may sign; go-crypto cannot verify with a second one. */
function findIssuer(
  signature: SignaturePacket,
  keys: readonly SigningKey[],
): Issuer | undefined {
  return keys
    .flatMap((certificate) => listIssuers(certificate))
    .find(
      ({ key, selfSignature }) =>
        key.keyId === signature.issuerKeyId &&
        ((selfSignature.keyFlags ?? 0) & signFlag) !== 0,
    );
}

function listIssuers(certificate: SigningKey): readonly Issuer[] {
  const selfSignature = findPrimarySelfSignature(certificate);
  // Without one go-crypto crashes as soon as a subkey of it is asked for.
  if (!selfSignature) return [];
  const { primary, revocations, subkeys } = certificate;
  return [
    { certificate, key: primary, selfSignature, revocations },
    ...subkeys.map(({ key, binding, revocations }) => ({
      certificate,
      key,
      selfSignature: binding,
      revocations,
    })),
  ];
}

function verifySignature(
  signature: SignaturePacket,
  { key }: Issuer,
  document: Uint8Array,
  arithmetic: Arithmetic,
): void {
  const { binary, text } = signatureTypes;
  if (signature.type !== binary && signature.type !== text)
    throw new Refused(
      "bad-signature",
      `it is of type ${signature.type}, not over a document`,
    );
  const signed =
    signature.type === text ? canonicalizeText(document) : document;
  if (!isMade(() => arithmetic.isMadeBy(signature, key, signed)))
    throw new Refused("bad-signature", "it does not match the document");
}

/** A key that costs too much ends the decision, also where no signature of its own was verified before. */
function isMade(verify: () => boolean): boolean {
  try {
    return verify();
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw new Refused("unusable-key", error.message);
  }
}

const cr = 13;
const lf = 10;

/** Line ends as CRLF, with go-crypto's reading of a CR: it makes the octet after it plain. */
function canonicalizeText(document: Uint8Array): Uint8Array {
  const canonical = Buffer.alloc(2 * document.length);
  let length = 0;
  let isPlain = false;
  for (const octet of document) {
    if (octet === lf && !isPlain) canonical[length++] = cr;
    canonical[length++] = octet;
    isPlain = octet === cr && !isPlain;
  }
  return canonical.subarray(0, length);
}
