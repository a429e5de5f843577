import { isMadeBy } from "./packets/arithmetic.ts";
import { formatHex } from "./packets/bytes.ts";
import {
  signatureTypes,
  type SignaturePacket,
} from "./packets/signature-packet.ts";
import { readPackets, type Packet } from "./packets/signature-packets.ts";
import { Refused, Unreadable } from "./packets/refusal.ts";
import {
  issuerTypes,
  unhashedTypes,
  type Subpacket,
} from "./packets/subpackets.ts";
import { findPrimarySelfSignature, type Issuer } from "./validity.ts";
import type { PublicKey } from "./packets/key-packet.ts";
import type { SigningKey } from "./keys/signing-key.ts";

/** A signature over the document that verifies, and who made it; its validity is not judged yet. */
export interface Signed {
  readonly signature: SignaturePacket;
  readonly issuer: Issuer;
}

const signFlag = 0x02;

/**
 * The first signature whose issuer is among `keys` decides (go-crypto's CheckDetachedSignature); what follows it is not
 * read. Undefined when there is none. Throws Refused.
 */
export async function findSignature(
  signatures: Uint8Array,
  keys: readonly SigningKey[],
  document: Uint8Array,
): Promise<Signed | undefined> {
  try {
    for (const packet of readPackets(signatures)) {
      const signature = expectSignature(packet);
      const issuer = findIssuer(signature, keys);
      if (!issuer) continue;
      await verifySignature(signature, issuer, document);
      return { signature, issuer };
    }
    return undefined;
  } catch (error) {
    if (error instanceof Unreadable)
      throw new Refused(
        "unreadable-signature",
        `the signature is unreadable: ${error.message}`,
      );
    throw error;
  }
}

function expectSignature(packet: Packet): SignaturePacket {
  if (packet.kind === "malformed") throw new Unreadable(packet.detail);
  if (packet.kind !== "signature")
    throw new Unreadable("there is a packet that is no signature");
  if (packet.signature.issuerKeyId === undefined)
    throw new Unreadable("it names no issuer");
  return packet.signature;
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

async function verifySignature(
  signature: SignaturePacket,
  { key }: Issuer,
  document: Uint8Array,
): Promise<void> {
  const { binary, text } = signatureTypes;
  if (signature.type !== binary && signature.type !== text)
    throw new Refused(
      "bad-signature",
      `it is of type ${signature.type}, not over a document`,
    );
  if (!isExact(signature, key))
    throw new Refused("bad-signature", "octets of the signature were changed");
  const signed =
    signature.type === text ? canonicalizeText(document) : document;
  if (!(await isMadeBy(signature, key, signed)))
    throw new Refused("bad-signature", "it does not match the document");
}

/** Line ends as CRLF, with go-crypto's reading of a CR: it makes the octet after it plain. */
function canonicalizeText(document: Uint8Array): Uint8Array {
  const text = Buffer.from(document).toString("latin1");
  const canonical = text.replace(/\r[^]|\n/g, (end) =>
    end === "\n" ? "\r\n" : end,
  );
  return Buffer.from(canonical, "latin1");
}

/**
 * Whether the octets that no signature protects are as its maker writes them, which go-crypto does not ask: each issuer is
 * this key, numbers have their true length, and an unhashed area names the issuer. So no changed bit of a usual signature
 * goes unnoticed.
 */
function isExact(
  { issuers, unhashed, numbers }: SignaturePacket,
  { version, keyId, fingerprint }: PublicKey,
): boolean {
  const names = [keyId, `0${version}${fingerprint}`];
  return (
    numbers.every(({ exact }) => exact) &&
    issuers.every(({ content }) => names.includes(formatHex(content))) &&
    (unhashed.length === 0 || unhashed.some(isPlainIssuer)) &&
    unhashed.every((one) => isPlainIssuer(one) || !isInterpreted(one))
  );
}

function isPlainIssuer({ type, critical }: Subpacket): boolean {
  return issuerTypes.includes(type) && !critical;
}

function isInterpreted({ type }: Subpacket): boolean {
  return unhashedTypes.includes(type);
}
