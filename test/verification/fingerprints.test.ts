import { describe, expect, it } from "vitest";
import {
  parseFingerprint,
  readKeyNames,
} from "../../src/verification/fingerprints.ts";
import { failing } from "../scenes/failing.ts";
import { Certificate, today } from "./certificates.ts";
import { armor, forgeKey, packet } from "./forge.ts";

const [one, other] = [forgeKey(today - 1000), forgeKey(today - 2000)];
const block = (...parts: readonly Uint8Array[]) => armor(Buffer.concat(parts));
const partsOf = (key: typeof one, name: string) =>
  new Certificate(key).userId(name).packets;
const nameless = packet(6, one.body);
const id = (name: string) => packet(13, Buffer.from(name));
const long = (length: number) => "x".repeat(length);
/** A block with text before it, so long together. */
const before = (length: number) => {
  const text = block(nameless, id("maker"));
  return `${long(length - text.length - 1)}\n${text}`;
};

it.each<[string, readonly string[], readonly (string | undefined)[]]>([
  ["as it says", [block(...partsOf(one, "maker"))], ["maker", undefined]],
  [
    "by its first user ID",
    [block(nameless, id("first"), id("second"))],
    ["first", undefined],
  ],
  [
    "each of several blocks, one of which cannot be read",
    [
      "no block",
      block(...partsOf(one, "maker")),
      block(...partsOf(other, "other")),
    ],
    ["maker", "other"],
  ],
  [
    "not as its subkey is called",
    [block(nameless, packet(14, other.body), id("maker"))],
    ["maker", undefined],
  ],
  ["not by what stands before any key", [block(id("lost"), nameless)], []],
  ["by 200 letters at most", [block(nameless, id(long(201)))], [long(200)]],
  ["not in a block that is longer", [before(65_537)], []],
  [
    "not in a block of more lines than programs write",
    [`${"\n".repeat(1_200)}${block(nameless, id("maker"))}`],
    [],
  ],
  [
    "not behind sixteen other keys",
    [
      block(
        ...Array.from({ length: 16 }, () => nameless),
        ...partsOf(other, "other"),
      ),
    ],
    [],
  ],
  [
    "not behind a thousand packets",
    [
      block(
        nameless,
        ...Array.from({ length: 1_000 }, () => packet(12, Buffer.of(0))),
        id("maker"),
      ),
    ],
    [],
  ],
  [
    "with blanks around its lines",
    [block(...partsOf(one, "maker")).replace(/^(?=[^-\n])/gm, " ")],
    ["maker", undefined],
  ],
])("a key is called %s", (_rule, blocks, [first, second]) => {
  const names = readKeyNames(blocks);
  const nameOf = ({ fingerprint }: typeof one) =>
    names.get(fingerprint.toUpperCase());
  expect([nameOf(one), nameOf(other)]).toEqual([first, second]);
  expect(names.size).toBe([first, second].filter((name) => name).length);
});

it("a version 6 key has a longer fingerprint", () => {
  const key = forgeKey(today - 1000, { version: 6 });
  const names = readKeyNames([block(packet(6, key.body), id("maker"))]);
  expect([...names]).toEqual([[key.fingerprint, "maker"]]);
});

it.each([
  ["old lengths of one octet", Buffer.of(0x98, one.body.length), 1],
  ["old lengths of four octets", Buffer.of(0x9a, 0, 0, 0, one.body.length), 1],
  [
    "new lengths of five octets",
    Buffer.of(0xc6, 255, 0, 0, 0, one.body.length),
    1,
  ],
  ["lengths in parts", Buffer.of(0xc6, 0xe5), 0],
  ["no packet at all", Buffer.of(0x06, one.body.length), 0],
])("%s are read as far as they can be", (_, header, size) => {
  const names = readKeyNames([block(header, one.body, id("maker"))]);
  expect(names.size).toBe(size);
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
