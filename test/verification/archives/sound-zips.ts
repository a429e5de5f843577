import {
  main,
  field,
  unicodePath,
  sizes,
  one,
  two,
  full,
  size,
  onDisk,
  descriptor,
  signature,
  described,
} from "./zip-cases.ts";
import { zip64Bytes, zipBytes } from "./zip-bytes.ts";

const end = one({}).subarray(-22);
const plain = { size: end.readUInt32LE(12), start: end.readUInt32LE(16) };

/** Archives as common writers make them; each must be accepted and read as by Go. */
export const soundZips: Readonly<Record<string, Buffer>> = {
  "stored and deflated": two({ deflate: false }),
  directories: zipBytes([
    { name: "a/", content: "", attributes: 0x41ed0010 },
    { ...main, name: "a/main.tf" },
    { name: "b/", content: "", attributes: 0x10, host: 0 },
  ]),
  "attributes of DOS": one({ attributes: 0x20, host: 0 }),
  "a data descriptor": one({ flags: 8 }),
  "a data descriptor, with nothing before the content": one({
    flags: 8,
    local: { size: 0, rawBytes: 0, crc32: 0 },
  }),
  "a data descriptor without a signature": described(descriptor(4)),
  "a data descriptor of 64 bits": described(descriptor(8, signature)),
  "a data descriptor of 64 bits without a signature": described(descriptor(8)),
  "a name in UTF-8": one({ name: "é.tf", flags: 0x800 }),
  "a Unicode path that is the name": one({
    extra: unicodePath("main.tf", "main.tf"),
  }),
  "times of Unix": one({
    extra: field(0x5455, Buffer.alloc(5)),
    local: { extra: field(0x5455, Buffer.alloc(9)) },
  }),
  "sizes of 64 bits": zip64Bytes([
    { ...main, local: { extra: Buffer.alloc(0) } },
  ]),
  "a zip64 record for its number alone": zip64Bytes([main], {
    ...{ directoryBytes: plain.size, directoryStart: plain.start },
  }),
  "a zip64 record for its place alone": zip64Bytes([main], {
    ...{ entryCount: 1, directoryBytes: plain.size },
  }),
  "a large file that is no text": one({ content: Buffer.alloc(5000, 0xff) }),
  "sizes of 64 bits before the content": one({
    local: { size: full, rawBytes: full, extra: sizes(7, 9) },
  }),
  "sizes of 64 bits in both headers": one({
    extra: sizes(7, 9),
    local: { size: full, rawBytes: full, extra: sizes(7, 9) },
  }),
  "content on the first disk": one({ extra: onDisk(0) }),
  "an unknown field twice": one({
    extra: Buffer.concat([field(0x9999, size), field(0x9999, size)]),
  }),
  "a link by a long way": two({
    attributes: 0xa1ff0000,
    content: `${"./".repeat(2044)}/main.tf`,
  }),
  "a comment": zipBytes([main], { comment: Buffer.from("0123456789abcdef") }),
  "a link inside": two({ attributes: 0xa1ff0000, content: "main.tf" }),
  "an empty file": one({ content: "", deflate: false }),
};
