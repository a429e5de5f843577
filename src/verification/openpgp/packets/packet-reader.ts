import { readPublicKey, type PublicKey } from "./key-packet.ts";
import { messagePackets } from "./message-packets.ts";
import type { OctetSource } from "./octets.ts";
import { Contents, takeLength, takeNumber } from "./octets.ts";
import { EndOfPackets, Malformed, Unreadable, Unsupported } from "./refusal.ts";
import { readSecretPart } from "./secret-key.ts";
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
 * The packets that go-crypto returns, one after the other, of which the last one can be put back. As there, a packet
 * ends where its fields end, whatever its length says, unless it cannot be read: then it is passed over by its length.
 */
export class PacketReader {
  readonly #source: OctetSource;
  #putBack: Packet | undefined;
  #isOver = false;

  constructor(source: OctetSource) {
    this.#source = source;
  }

  /** Undefined at the end. Throws Malformed, UnsupportedPacket or Unreadable; what follows can be read nevertheless. */
  next(): Packet | undefined {
    let packet = this.#putBack;
    this.#putBack = undefined;
    while (packet === undefined && !this.#isOver) packet = this.#read();
    return packet;
  }

  putBack(packet: Packet): void {
    this.#putBack = packet;
  }

  #read(): Packet | undefined {
    try {
      return readPacket(this.#source);
    } catch (error) {
      if (error instanceof EndOfPackets) this.#isOver = true;
      else if (!(error instanceof Unsupported)) throw error;
      return skipped;
    }
  }
}

function readPacket(source: OctetSource): Packet | undefined {
  const { tag, contents } = takeHeader(source);
  try {
    return readKnown(tag, contents);
  } catch (error) {
    contents.skip();
    throw error;
  }
}

function takeHeader(source: OctetSource): {
  readonly tag: number;
  readonly contents: Contents;
} {
  const [header] = source.takeSome(1);
  if (header === undefined) throw new EndOfPackets("the end");
  if (header < 0x80) throw new Malformed("no packet starts here");
  if (header >= 0xc0) {
    const { length, isPartial } = takeLength(source);
    const contents = new Contents(source, length, isPartial);
    return { tag: header & 0x3f, contents };
  }
  const lengthType = header & 3;
  const length =
    lengthType === 3 ? Infinity : takeNumber(source, 2 ** lengthType);
  return { tag: (header & 0x3f) >> 2, contents: new Contents(source, length) };
}

/** By tag (RFC 9580, 5). */
function readKnown(tag: number, contents: Contents): Packet | undefined {
  switch (tag) {
    case 2:
      return { kind: "signature", signature: readSignaturePacket(contents) };
    case 5:
    case 7:
      return readSecretKey(contents, tag === 7);
    case 6:
    case 14: {
      const key = readPublicKey(contents);
      return { kind: "key", key, isSubkey: tag === 14, isSecret: false };
    }
    case 10:
      if (Buffer.from(contents.takeOrEnd(3)).toString("latin1") !== "PGP")
        throw new Malformed("an invalid marker packet");
      return skipped;
    case 13:
      return { kind: "userId", id: contents.takeRest() };
    case 17:
      // Only their form counts.
      Array.from(splitSubpackets(contents.takeRest()));
      return { kind: "other" };
    case 21:
      contents.skipPadding();
      return { kind: "other" };
    default:
      return readOther(tag, contents);
  }
}

function readSecretKey(contents: Contents, isSubkey: boolean): Packet {
  const key = readPublicKey(contents);
  readSecretPart(contents, key);
  return { kind: "key", key, isSubkey, isSecret: true };
}

/** Tags from 40 on are not critical (RFC 9580, 4.3), nor is the trust packet. */
function readOther(tag: number, contents: Contents): Packet | undefined {
  const read = messagePackets[tag];
  if (read) {
    read(contents);
    return { kind: "other" };
  }
  if (tag !== 12 && tag < 40)
    throw new Unreadable(`a packet of type ${tag} is not expected here`);
  contents.skip();
  return skipped;
}
