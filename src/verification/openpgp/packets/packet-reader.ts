import { readPublicKey, type PublicKey } from "./key-packet.ts";
import { takeLength, takeNumber, type Octets } from "./octets.ts";
import { Malformed, Unreadable, Unsupported } from "./refusal.ts";
import {
  readSignaturePacket,
  type SignaturePacket,
} from "./signature-packet.ts";
import { splitSubpackets } from "./subpackets.ts";

export type Packet =
  | {
      readonly kind: "key";
      readonly key: PublicKey;
      readonly isSubkey: boolean;
      readonly isSecret: boolean;
    }
  | { readonly kind: "signature"; readonly signature: SignaturePacket }
  | { readonly kind: "userId"; readonly id: Uint8Array }
  | { readonly kind: "other" };

const skipped = undefined;

/**
 * Packets of messages: session keys, a one-pass signature and encrypted data.
 * They prove nothing about keys or documents.
 */
const passedOver: readonly number[] = [1, 3, 4, 9];
/** Compressed, literal and protected data: a block of keys or signatures has none. */
const refused: readonly number[] = [8, 11, 18, 20];
const onePassSignature = { tag: 4, octets: 4 };

/**
 * Reads the packets that go-crypto returns, in order; the last one can be put
 * back.
 * As in go-crypto, a packet ends where its fields end, and its announced length
 * is ignored. An unreadable packet is skipped by that length.
 */
export class PacketReader {
  readonly #octets: Octets;
  #putBack: Packet | undefined;

  constructor(octets: Octets) {
    this.#octets = octets;
  }

  /** Undefined at the end. Throws Malformed or Unreadable; what follows can be read nevertheless. */
  next(): Packet | undefined {
    let packet = this.#putBack;
    this.#putBack = undefined;
    while (packet === undefined && !this.#octets.isOver) packet = this.#read();
    return packet;
  }

  putBack(packet: Packet): void {
    this.#putBack = packet;
  }

  #read(): Packet | undefined {
    const octets = this.#octets;
    const tag = openPacket(octets);
    try {
      return readKnown(tag, octets);
    } catch (error) {
      octets.skip();
      if (error instanceof Unsupported) return skipped;
      throw error;
    } finally {
      octets.close();
    }
  }
}

/** Takes a header, and returns the tag. Throws Malformed or Unreadable. */
export function openPacket(octets: Octets): number {
  const header = takeNumber(octets, 1);
  if (header < 0x80) throw new Malformed("no packet starts here");
  if (header >= 0xc0) {
    octets.open(takeLength(octets));
    return header & 0x3f;
  }
  const lengthType = header & 3;
  octets.open(
    lengthType === 3 ? Infinity : takeNumber(octets, 2 ** lengthType),
  );
  return (header & 0x3f) >> 2;
}

/** Reads a packet by its tag (RFC 9580, 5). */
function readKnown(tag: number, octets: Octets): Packet | undefined {
  switch (tag) {
    case 2:
      return { kind: "signature", signature: readSignaturePacket(octets) };
    case 5:
    case 6:
    case 7:
    case 14: {
      const key = readPublicKey(octets);
      const isSecret = tag === 5 || tag === 7;
      // The public part alone identifies the signer.
      if (isSecret) octets.takeRest();
      return { kind: "key", key, isSubkey: tag === 7 || tag === 14, isSecret };
    }
    case 10:
      if (Buffer.from(octets.takeOrEnd(3)).toString("latin1") !== "PGP")
        throw new Malformed("an invalid marker packet");
      return skipped;
    case 13:
      return { kind: "userId", id: octets.takeRest() };
    case 17:
      // Only their form counts.
      Array.from(splitSubpackets(octets.takeRest()));
      return { kind: "other" };
    case 21:
      octets.takeRest();
      return { kind: "other" };
    default:
      passOver(tag, octets);
      return skipped;
  }
}

/** Tags from 40 on are not critical (RFC 9580, 4.3), nor is the trust packet. */
function passOver(tag: number, octets: Octets): void {
  if (refused.includes(tag))
    throw new Malformed(`data of type ${tag} are not expected here`);
  if (!passedOver.includes(tag) && tag !== 12 && tag < 40)
    throw new Unreadable(`a packet of type ${tag} is not expected here`);
  if (tag === onePassSignature.tag) octets.take(onePassSignature.octets);
  octets.skip();
}
