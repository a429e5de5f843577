import * as openpgp from "openpgp";
import { checkKeySize } from "./limits.ts";
import type { SignaturePacket } from "./signature-packet.ts";
import { Unreadable } from "./refusal.ts";
import type { PublicKey } from "./key-packet.ts";

/** The library's own policy is put out of the way: the rules of the clients decide. */
const config: openpgp.Config = {
  ...openpgp.config,
  rejectHashAlgorithms: new Set(),
  rejectMessageHashAlgorithms: new Set(),
};

const webCurves = ["prime256v1", "secp384r1", "secp521r1"];

/**
 * Whether `key` made `signature` over `signed`, the octets that the type of the signature prescribes (RFC 9580, 5.2.4,
 * without salt and trailer). Neither dates nor the issuer are looked at. Throws Refused ("limits").
 */
export async function isMadeBy(
  signature: SignaturePacket,
  key: PublicKey,
  signed: Uint8Array,
): Promise<boolean> {
  if (key.algorithm !== signature.algorithm) return false;
  checkKeySize(key);
  try {
    const issuer = new openpgp.PublicKeyPacket();
    await issuer.read(key.body);
    const packet = new openpgp.SignaturePacket();
    packet.read(signature.body);
    const created = disarm(packet, issuer);
    const data = asData(signed, key);
    await packet.verify(
      issuer,
      openpgp.enums.signature.binary,
      data,
      created,
      true,
      config,
    );
    return true;
  } catch {
    return false;
  }
}

/** Takes from `packet` all that verify() would judge besides the arithmetic; returns the one date at which it is valid for it. */
function disarm(
  packet: openpgp.SignaturePacket,
  issuer: openpgp.PublicKeyPacket,
): Date {
  packet.issuerKeyID = issuer.getKeyID();
  packet.rawNotations = [];
  packet.unknownSubpackets = [];
  packet.revocationKeyClass = null;
  return packet.created ?? new Date(0);
}

/**
 * As a message in binary form, whatever the type: then verify() hashes these octets as they are.
 * For the curves that WebCrypto does not have, a stream makes it use the implementation that it brings along.
 */
function asData(signed: Uint8Array, key: PublicKey): object {
  const { curve } = key;
  const isForeign = curve !== undefined && !webCurves.includes(curve);
  const bytes = isForeign ? new Blob([signed]).stream() : signed;
  return { text: null, getBytes: () => bytes };
}

/** That a secret key packet is whole and, unless it is encrypted, belongs to its public part; throws Unreadable or Refused. */
export async function checkSecretKey(
  body: Uint8Array,
  key: PublicKey,
): Promise<void> {
  checkKeySize(key);
  try {
    const packet = new openpgp.SecretKeyPacket();
    await packet.read(body);
    if (packet.isDecrypted()) await packet.validate();
  } catch {
    throw new Unreadable("a secret key that is damaged");
  }
}
