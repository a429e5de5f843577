import { number, packet } from "./forge.ts";
import type { Random } from "./random.ts";

/** Returns what it made, if go-crypto and provender are known to read that differently. */
type Mutation = (random: Random, packets: Buffer[]) => string;

const mutations: readonly Mutation[] = [
  flipBits,
  insertPacket,
  dropPacket,
  repeatPacket,
  swapPackets,
  misstateLength,
  splitPacket,
  cutPacket,
  insertOctets,
];

/** The packets with one fault, rarely two, which are added to `faults`. */
export function mutateOctets(
  random: Random,
  original: readonly Buffer[],
  faults: string[],
): Buffer[] {
  const packets = original.map((one) => Buffer.from(one));
  faults.push(random.pick(mutations)(random, packets));
  if (random.oneIn(4)) faults.push(random.pick(mutations)(random, packets));
  return packets;
}

const ecdh = 18;

/** The name of what a packet is now. */
function faultOf(octets: Buffer): string {
  const [, length = 0] = octets;
  if (length >= 224 && length < 255) return "parts";
  const { tag, body } = split(octets);
  return tag === 14 && body[5] === ecdh ? "ECDH" : `packet ${tag}`;
}

function flipBits(random: Random, packets: Buffer[]): string {
  const chosen = random.pick(packets);
  for (let count = random.below(2); count >= 0 && chosen.length > 0; count--) {
    const at = random.below(chosen.length);
    chosen[at] = (chosen[at] ?? 0) ^ (1 << random.below(8));
  }
  return faultOf(chosen);
}

/** Inserts a random packet, often with a version of a message's packets. */
function insertPacket(random: Random, packets: Buffer[]): string {
  const body = random.bytes(random.below(60));
  if (body.length > 0 && random.oneIn(2))
    body[0] = random.pick([1, 2, 3, 4, 5, 6]);
  const tag = random.pick([
    ...[1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 17, 18, 20, 21],
    random.below(64),
  ]);
  const inserted = tag === 10 && random.oneIn(2) ? Buffer.from("PGP") : body;
  packets.splice(random.below(packets.length + 1), 0, packet(tag, inserted));
  return `packet ${tag}`;
}

function dropPacket(random: Random, packets: Buffer[]): string {
  packets.splice(random.below(packets.length), 1);
  if (packets.length === 0) packets.push(Buffer.of());
  return "dropped";
}

function repeatPacket(random: Random, packets: Buffer[]): string {
  const chosen = random.pick(packets);
  packets.splice(random.below(packets.length + 1), 0, Buffer.from(chosen));
  return "repeated";
}

function swapPackets(random: Random, packets: Buffer[]): string {
  const [taken] = packets.splice(random.below(packets.length), 1);
  if (taken) packets.splice(random.below(packets.length + 1), 0, taken);
  return "swapped";
}

/** By as much as is appended, or by a number that fits nothing. */
function misstateLength(random: Random, packets: Buffer[]): string {
  const at = random.below(packets.length);
  const { tag, body } = split(packets[at] ?? Buffer.of());
  const more = random.below(30) - 8;
  const header = Buffer.of(0xc0 + tag, 0xff);
  const length = number(Math.max(0, body.length + more), 4);
  const filler = random.oneIn(2)
    ? Buffer.alloc(Math.max(0, more))
    : Buffer.of();
  packets[at] = Buffer.concat([header, length, body, filler]);
  return "length";
}

/** Into partial lengths, of which the last one may be empty. */
function splitPacket(random: Random, packets: Buffer[]): string {
  const at = random.below(packets.length);
  const { tag, body } = split(packets[at] ?? Buffer.of());
  const parts: Buffer[] = [Buffer.of(0xc0 + tag)];
  let rest = body;
  while (rest.length > 0) {
    const power = random.below(Math.floor(Math.log2(rest.length)) + 1);
    parts.push(Buffer.of(224 + power), rest.subarray(0, 2 ** power));
    rest = rest.subarray(2 ** power);
    if (random.oneIn(3) && rest.length < 192) break;
  }
  packets[at] = Buffer.concat([...parts, Buffer.of(rest.length), rest]);
  return "parts";
}

function cutPacket(random: Random, packets: Buffer[]): string {
  const at = random.below(packets.length);
  const chosen = packets[at] ?? Buffer.of();
  const { tag, body } = split(chosen);
  const cut = body.subarray(0, random.below(body.length + 1));
  packets[at] = random.oneIn(2)
    ? packet(tag, cut)
    : chosen.subarray(0, random.below(chosen.length + 1));
  return "cut";
}

function insertOctets(random: Random, packets: Buffer[]): string {
  const octets = random.bytes(1 + random.below(3));
  packets.splice(random.below(packets.length + 1), 0, octets);
  return faultOf(octets);
}

/** Splits a packet of forge.ts, whose length takes one octet or five. */
function split(octets: Buffer): {
  readonly tag: number;
  readonly body: Buffer;
} {
  const header = octets[1] === 255 ? 6 : 2;
  return { tag: (octets[0] ?? 0) & 0x3f, body: octets.subarray(header) };
}

/** One fault in armored text. */
export function mutateText(random: Random, text: string): string {
  const lines = text.split("\n");
  const at = random.below(lines.length);
  const line = lines[at] ?? "";
  lines[at] = random.pick([
    () => "",
    () => ` ${line}`,
    () => `${line} `,
    () => `${line}\r`,
    () => line.slice(0, random.below(line.length + 1)),
    () => `${line}\n${line}`,
    () => line + "A".repeat(random.below(80)),
    () =>
      line.slice(0, -1) + random.pick(["=", "-", "é", "\ufeff", "\u00a0", ":"]),
    () => `Comment: ${line}`,
    () => "=AAAA",
    () => "-----END PGP PUBLIC KEY BLOCK-----",
    () => "-----BEGIN PGP PUBLIC KEY BLOCK-----\n",
    () => "-----BEGIN PGP MESSAGE-----\n",
    () => "é".repeat(random.below(60)),
  ])();
  return lines.join("\n");
}
