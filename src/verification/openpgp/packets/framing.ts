import { ByteReader } from "./bytes.ts";
import { Unreadable } from "./refusal.ts";

export interface RawPacket {
  readonly tag: number;
  readonly body: Uint8Array;
}

/** The packets of `bytes` one after the other (RFC 9580, 4.2), read no further than asked; throws Unreadable. */
export function* splitPackets(bytes: Uint8Array): Generator<RawPacket> {
  const reader = new ByteReader(bytes);
  while (reader.left > 0) {
    const header = reader.number(1);
    if (header < 0x80) throw new Unreadable("no packet starts here");
    yield header < 0xc0
      ? { tag: (header & 0x3f) >> 2, body: takeOldBody(reader, header & 3) }
      : { tag: header & 0x3f, body: takeBody(reader) };
  }
}

function takeOldBody(reader: ByteReader, lengthType: number): Uint8Array {
  if (lengthType === 3) throw new Unreadable("a packet without a length");
  return reader.take(reader.number(2 ** lengthType));
}

/** In several parts where the lengths are partial ones. */
function takeBody(reader: ByteReader): Uint8Array {
  const parts: Uint8Array[] = [];
  let first = reader.number(1);
  for (; first >= 224 && first < 255; first = reader.number(1))
    parts.push(reader.take(2 ** (first & 0x1f)));
  parts.push(reader.take(readLength(reader, first)));
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

function readLength(reader: ByteReader, first: number): number {
  if (first < 192) return first;
  if (first === 255) return reader.number(4);
  return (first - 192) * 256 + reader.number(1) + 192;
}
