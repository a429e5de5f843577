import { expect, it } from "vitest";
import { parseTarBlock } from "../../../src/verification/archives/tar-block.ts";
import { gnu } from "./differing-tars.ts";
import { checksumOf, tarBytes, type TarPart } from "./tar-bytes.ts";

const parse = (part: Partial<TarPart>) => {
  const bytes = tarBytes([{ name: "main.tf", ...part }], Buffer.alloc(0));
  const { name, target, ...rest } = parseTarBlock(bytes.subarray(0, 512));
  return { name: String(name), target: String(target), ...rest };
};
/** Of the fields with eight octets or twelve. */
const at = (offset: number, bytes: string): Partial<TarPart> => ({
  at: [[offset, bytes]],
});
const v7: Partial<TarPart> = { magic: "", at: [[257, "\0".repeat(255)]] };
const zeros = "\0".repeat(7);

const plain = { type: "0", name: "main.tf", target: "", size: 0, mode: 0o644 };

it.each<[string, Partial<TarPart>, Partial<typeof plain>]>([
  ["nothing else", {}, {}],
  ["a size", { content: "12345678" }, { size: 8 }],
  ["the largest size", { size: "77777777777\0" }, { size: 8 ** 11 - 1 }],
  ["a size of twelve digits", { size: "000000000017" }, { size: 15 }],
  ["a size with spaces", { size: "         7 \0" }, { size: 7 }],
  ["no size", { size: "\0".repeat(12) }, { size: 0 }],
  ["no mode", { mode: "        " }, { mode: 0 }],
  ["a type", { type: "5" }, { type: "5" }],
  ["a link", { link: "there" }, { target: "there" }],
  ["no name", { name: "" }, { name: "" }],
  ["the longest name", { name: "n".repeat(100) }, { name: "n".repeat(100) }],
  ["a prefix", { prefix: "a/b" }, { name: "a/b/main.tf" }],
  [
    "the longest prefix",
    { prefix: "p".repeat(155) },
    { name: `${"p".repeat(155)}/main.tf` },
  ],
  ["the format of GNU", { magic: gnu }, {}],
  ["the format of V7", v7, {}],
  ["an owner in binary", at(108, `\x80${zeros}`), {}],
  ["a negative group in binary", at(116, "\xff".repeat(8)), {}],
  ["the last time in binary", at(136, `\x80\0\0\0\x7f${zeros}`), {}],
  ["the first time in binary", at(136, `\xff\xff\xff\xff\x80${zeros}`), {}],
])("a header with %s is read", (_what, part, expected) => {
  expect(parse(part)).toEqual({ ...plain, ...expected });
});

const number = "a header has an unreadable number";
const format = "a header is of an unknown format";
const checksum = "a header has a wrong checksum";

it.each<[string, Partial<TarPart>, string]>([
  [
    "a checksum one too large",
    { checksum: (block) => `${(checksumOf(block) + 1).toString(8)}\0 ` },
    checksum,
  ],
  ["no checksum", { checksum: () => "\0".repeat(8) }, checksum],
  ["a checksum that is none", { checksum: () => "checksum" }, number],
  ["a size that is none", { size: "0x200\0" }, number],
  ["a size in binary", { size: `\x80${zeros}\0\0\0\x01` }, number],
  ["a mode that is none", { mode: "rw-r--r-" }, number],
  ["an owner that is none", at(108, "root"), number],
  ["a group that is none", at(116, "root"), number],
  ["a time that is none", at(136, "now"), number],
  ["a major number that is none", at(329, "x"), number],
  ["a minor number that is none", at(337, "x"), number],
  ["an owner of another sign", at(108, `\x81${zeros}`), number],
  ["a time beyond 63 bits", at(136, `\x80\0\0\0\x80${zeros}`), number],
  ["a time beyond 64 bits", at(136, `\x80\0\0\x01\0${zeros}`), number],
  [
    "a time below 63 bits",
    at(136, `\xff\xff\xff\xff\x7f${"\xff".repeat(7)}`),
    number,
  ],
  [
    "a time below 64 bits",
    at(136, `\xff\xff\xff\xfe\xff${"\xff".repeat(7)}`),
    number,
  ],
  ["the format of star", at(508, "tar\0"), format],
  ["another version", { magic: "ustar\x0001" }, format],
  ["a prefix in the format of GNU", { magic: gnu, prefix: "p" }, format],
  [
    "something at the end of the format of GNU",
    { magic: gnu, at: [[511, "x"]] },
    format,
  ],
  [
    "an owner's name in the format of V7",
    { magic: "", at: [[265, "root"]] },
    format,
  ],
])("a header with %s is refused", (_what, part, reason) => {
  expect(() => parse(part)).toThrow(reason);
});
