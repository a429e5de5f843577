import { expect, it } from "vitest";
import { readKeyNames } from "../../../../src/verification/openpgp/keys/names.ts";
import { Certificate, today } from "../certificates.ts";
import { armor, forgeKey, packet } from "../forge.ts";

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
    "each of several in one block",
    [block(...partsOf(one, "maker"), ...partsOf(other, "other"))],
    ["maker", "other"],
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
  ["in a block of 64 KiB", [before(65_536)], ["maker", undefined]],
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
