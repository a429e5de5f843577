import { describe, expect, it } from "vitest";
import {
  listFingerprints,
  parseFingerprint,
} from "../../src/verification/fingerprints.ts";
import { failing } from "../scenes/failing.ts";
import { armor, makeKey, today } from "./forge.ts";

const one = await makeKey();
const body = Buffer.from(one.key.write());
const packet = (tag: number, content: Uint8Array) =>
  Buffer.of(0xc0 + tag, content.length, ...content);
const block = (...parts: readonly Uint8Array[]) => armor(Buffer.concat(parts));
const key = packet(6, body);
const other = packet(6, one.subkey.write());
const times = (count: number, part: Buffer) => Array<Buffer>(count).fill(part);
/** A block with text before it, so long together. */
const before = (length: number) => {
  const text = block(key);
  return `${"x".repeat(length - text.length - 1)}\n${text}`;
};

it.each<[string, readonly string[], number]>([
  ["a primary key, whatever else is there", [block(packet(13, key), key)], 1],
  ["no subkey", [block(other, packet(14, body))], 0],
  ["each of several blocks", ["no block", block(other), block(key)], 1],
  ["a block of 64 KiB", [before(65_536)], 1],
  ["no longer block", [before(65_537)], 0],
  ["no block of more lines", [`${"\n".repeat(1_200)}${block(key)}`], 0],
  ["a sixteenth key", [block(...times(15, other), key)], 1],
  ["no seventeenth key", [block(...times(16, other), key)], 0],
  [
    "none behind 1000 packets",
    [block(...times(1000, packet(12, key)), key)],
    0,
  ],
  ["indented lines", [block(key).replace(/^(?=[^-\n])/gm, " ")], 1],
  ...[
    ["old lengths of one octet", Buffer.of(0x98, body.length), 1],
    ["old lengths of four", Buffer.of(0x9a, 0, 0, 0, body.length), 1],
    ["lengths of five", Buffer.of(0xc6, 255, 0, 0, 0, body.length), 1],
    ["no lengths in parts", Buffer.of(0xc6, 0xe5), 0],
    ["no packet at all", Buffer.of(0x06, body.length), 0],
  ].map(([what, header, count]): [string, string[], number] => [
    what as string,
    [block(header as Buffer, body)],
    count as number,
  ]),
])("the fingerprints of key blocks are of %s", (_rule, blocks, count) => {
  const found = listFingerprints(blocks);
  expect(found.filter((each) => each === one.fingerprint)).toHaveLength(count);
});

it("a version 6 key has a longer fingerprint", async () => {
  const six = await makeKey(today, { config: { v6Keys: true } });
  expect(listFingerprints([six.armored])).toEqual([six.fingerprint]);
});

describe("a fingerprint", () => {
  it("is all 40 or 64 hexadecimal digits", () => {
    const v4 = "C874011F0AB405110D02105534365D9472D7468F";
    expect(parseFingerprint(v4.toLowerCase())).toBe(v4);
    expect(parseFingerprint("A".repeat(64))).toBe("A".repeat(64));
    expect(
      parseFingerprint("C874 011F 0AB4 0511 0D02  1055 3436 5D94 72D7 468F"),
    ).toBe(v4);
  });

  it.each([
    "34365D9472D7468F",
    "0x34365D9472D7468F",
    "",
    "G".repeat(40),
    "A".repeat(41),
  ])("is not %j", (text) => {
    expect(() => parseFingerprint(text)).toThrow(failing("malformed-address"));
  });
});
