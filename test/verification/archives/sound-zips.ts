import { crc32, deflateRawSync } from "node:zlib";
import { zip64Bytes, zipBytes, type ZipPart } from "./zip-bytes.ts";

const text = "# main\n";
const main: ZipPart = {
  name: "main.tf",
  content: text,
  deflate: true,
  attributes: 0o100644 * 0x10000,
};
const hidden: ZipPart = {
  ...main,
  name: "hidden.tf",
  content: "# hidden\n",
};

export const one = (lie: Partial<ZipPart>) => zipBytes([{ ...main, ...lie }]);
const two = (lie: Partial<ZipPart>) => zipBytes([main, { ...hidden, ...lie }]);

function field(id: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(id, 0);
  head.writeUInt16LE(data.length, 2);
  return Buffer.concat([head, data]);
}

function unicodePath(name: string, plain: string): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 1;
  head.writeUInt32LE(crc32(plain), 1);
  return field(0x7075, Buffer.concat([head, Buffer.from(name)]));
}

function sizes(...values: readonly number[]): Buffer {
  const data = Buffer.alloc(values.length * 8);
  values.forEach((value, index) =>
    data.writeBigUInt64LE(BigInt(value), index * 8),
  );
  return field(1, data);
}

const full = 0xffffffff;
const size = Buffer.alloc(8);
size.writeBigUInt64LE(BigInt(text.length));
/** The size of the content in 64 bits, and the number of the disk that it is on. */
const onDisk = (disk: number) =>
  field(1, Buffer.concat([size, Buffer.of(disk, 0, 0, 0)]));

/** A data descriptor of what `main` holds, with or without its signature, whose sizes have so many octets. */
function descriptor(
  octets: 4 | 8,
  signature?: number,
  lengths: readonly [number, number] = [
    deflateRawSync(text).length,
    text.length,
  ],
  crc = crc32(text),
): Buffer {
  const bytes = Buffer.alloc(8 + 2 * octets);
  bytes.writeUInt32LE(signature ?? 0, 0);
  bytes.writeUInt32LE(crc, 4);
  lengths.forEach((value, index) =>
    octets === 8
      ? bytes.writeBigUInt64LE(BigInt(value), 8 + index * octets)
      : bytes.writeUInt32LE(value, 8 + index * octets),
  );
  return bytes.subarray(signature === undefined ? 4 : 0);
}
const signature = 0x08074b50;

const described = (bytes: Buffer) => one({ flags: 8, described: bytes });

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
