import { splitPackets, type RawPacket } from "./framing.ts";
import { signatureLimits } from "./limits.ts";
import {
  readSignaturePacket,
  type SignaturePacket,
} from "./signature-packet.ts";
import { Malformed, Refused, Unreadable, Unsupported } from "./refusal.ts";
import { splitSubpackets } from "./subpackets.ts";
import { readPublicKey, type PublicKey } from "./key-packet.ts";

export type Packet =
  | {
      readonly kind: "key";
      readonly key: PublicKey;
      readonly isSubkey: boolean;
      /** The whole secret key packet, if it is one. */
      readonly secret: Uint8Array | undefined;
    }
  | { readonly kind: "signature"; readonly signature: SignaturePacket }
  | { readonly kind: "userId"; readonly id: Uint8Array }
  | { readonly kind: "other" }
  | { readonly kind: "malformed"; readonly detail: string };

const skipped = undefined;

/** The packets that go-crypto returns, in order, read no further than asked; throws Refused ("limits") or Unreadable. */
export function* readPackets(bytes: Uint8Array): Generator<Packet> {
  let count = 0;
  for (const raw of splitPackets(bytes)) {
    if (++count > signatureLimits.packets)
      throw new Refused(
        "limits",
        `more than ${signatureLimits.packets} packets`,
      );
    const packet = readPacket(raw);
    if (packet !== skipped) yield packet;
  }
}

function readPacket(raw: RawPacket): Packet | undefined {
  try {
    return readKnown(raw);
  } catch (error) {
    if (error instanceof Unsupported) return skipped;
    if (error instanceof Malformed)
      return { kind: "malformed", detail: error.message };
    throw error;
  }
}

/** By tag (RFC 9580, 5). */
function readKnown({ tag, body }: RawPacket): Packet | undefined {
  switch (tag) {
    case 2:
      return { kind: "signature", signature: readSignaturePacket(body) };
    case 5:
    case 7:
      return readKey(body, tag === 7, body);
    case 6:
    case 14:
      return readKey(body, tag === 14, undefined);
    case 10:
      checkMarker(body);
      return skipped;
    case 13:
      return { kind: "userId", id: body };
    case 17:
      splitSubpackets(body);
      return { kind: "other" };
    case 21:
      return { kind: "other" };
    default:
      checkSkippable(tag, body);
      return skipped;
  }
}

function readKey(
  body: Uint8Array,
  isSubkey: boolean,
  secret: Uint8Array | undefined,
): Packet {
  const key = readPublicKey(body, secret !== undefined);
  return { kind: "key", key, isSubkey, secret };
}

function checkMarker(body: Uint8Array): void {
  if (Buffer.from(body).toString("latin1") !== "PGP")
    throw new Malformed("an invalid marker packet");
}

/** Packets of encrypted messages are skipped in versions that go-crypto does not know, and have no business here in others. */
const messageVersions: Readonly<Record<number, readonly number[]>> = {
  1: [3, 6],
  3: [4, 6],
  4: [3, 6],
};

/** Tags from 40 on are not critical (RFC 9580, 4.3), nor is the trust packet. */
function checkSkippable(tag: number, body: Uint8Array): void {
  const versions = messageVersions[tag];
  const [version] = body;
  const isForeign =
    versions !== undefined &&
    version !== undefined &&
    !versions.includes(version);
  if (tag !== 12 && tag < 40 && !isForeign)
    throw new Unreadable(`a packet of type ${tag} is not expected here`);
}
