import { crc32 } from "node:zlib";
import { zip64Bytes, zipBytes, type ZipPart } from "./zip-bytes.ts";

const text = "# main\n";
const main: ZipPart = {
  name: "main.tf",
  content: text,
  deflate: true,
  attributes: 0o100644 * 0x10000,
};
const hidden: ZipPart = { ...main, name: "hidden.tf", content: "# hidden\n" };

const one = (lie: Partial<ZipPart>) => zipBytes([{ ...main, ...lie }]);
const two = (lie: Partial<ZipPart>) => zipBytes([main, { ...hidden, ...lie }]);

/** A zip's entries without its directory and end. */
function entriesOf(parts: readonly ZipPart[]): Buffer {
  const bytes = zipBytes(parts);
  return bytes.subarray(0, bytes.readUInt32LE(bytes.length - 6));
}

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

const size = Buffer.alloc(8);
size.writeBigUInt64LE(BigInt(text.length));
/** The size of the content in 64 bits, and the number of the disk that it is on. */
const onDisk = (disk: number) =>
  field(1, Buffer.concat([size, Buffer.of(disk, 0, 0, 0)]));

const short = Buffer.alloc(12);
short.writeUInt32LE(crc32(text), 0);

/** Archives that readers understand differently, or that one of them stumbles over: none may be accepted. */
export const differingZips: Readonly<Record<string, Buffer>> = {
  "fewer entries than there are": zipBytes([main, hidden], { entryCount: 1 }),
  "more entries than there are": zipBytes([main], { entryCount: 2 }),
  "a number of entries that went round": zipBytes([main, hidden], {
    entryCount: 1,
    diskEntries: 2,
  }),
  "other entries on this disk": zipBytes([main, hidden], { diskEntries: 1 }),
  "a smaller directory": zipBytes([main, hidden], { directoryBytes: 53 }),
  "a directory elsewhere": zipBytes([main], { directoryStart: 0 }),
  "a zip64 record that only some use": zip64Bytes([main], {
    entryCount: 1,
    directoryStart: 0,
  }),
  "a zip64 record with another number": zip64Bytes([main, hidden], {
    entryCount: 1,
  }),
  "bytes before the archive": Buffer.concat([
    Buffer.from("#!/bin/sh\n"),
    one({}),
  ]),
  "bytes before the archive, counted": zipBytes([main], {
    before: Buffer.from("#!/bin/sh\n"),
  }),
  "an entry before the archive": zipBytes([main], {
    before: entriesOf([hidden]),
  }),
  "an entry that the directory does not list": zipBytes([
    { ...main, described: entriesOf([hidden]) },
  ]),
  "bytes after the archive": zipBytes([main], { after: Buffer.of(0) }),
  "an archive in the comment": zipBytes([main], {
    comment: zipBytes([hidden]),
  }),
  "an end in the comment": zipBytes([main], {
    comment: Buffer.from("PK\x05\x06"),
  }),
  "bytes after the directory": zipBytes([main], {
    afterDirectory: Buffer.alloc(4),
  }),
  "a signature after the directory": zipBytes([main], {
    afterDirectory: Buffer.concat([
      Buffer.from("PK\x05\x05\x01\x00"),
      Buffer.from("x"),
    ]),
  }),
  "another name before the content": one({ localName: "../main" }),
  "a name of another length before the content": one({
    localName: "longer-main.tf",
  }),
  "another method before the content": one({ local: { method: 0 } }),
  "another size before the content": one({ local: { size: 3 } }),
  "another compressed size before the content": one({ local: { rawBytes: 3 } }),
  "another CRC before the content": one({ local: { crc32: 3 } }),
  "a descriptor that only one header tells of": one({
    flags: 8,
    local: { flags: 0 },
  }),
  "no descriptor where one is told of": one({
    flags: 8,
    described: Buffer.alloc(0),
  }),
  "a descriptor where none is told of": one({ described: Buffer.alloc(16) }),
  "a descriptor with another size": one({ flags: 8, described: short }),
  "encryption that only one header tells of": one({ local: { flags: 1 } }),
  "an encrypted entry": one({ flags: 1 }),
  "an unknown method": one({ method: 12 }),
  "a Unicode path": one({ extra: unicodePath("other.tf", "main.tf") }),
  "a Unicode path before the content": one({
    local: { extra: unicodePath("other.tf", "main.tf") },
  }),
  "a Unicode path of an unknown version": one({
    extra: field(0x7075, Buffer.from("\x02xxxxother.tf")),
  }),
  "two Unicode paths": one({
    extra: Buffer.concat([
      unicodePath("main.tf", "main.tf"),
      unicodePath("main.tf", "main.tf"),
    ]),
  }),
  "other sizes of 64 bits": one({ extra: sizes(3) }),
  "other sizes of 64 bits before the content": one({
    local: { size: 0xffffffff, rawBytes: 0xffffffff, extra: sizes(3, 3) },
  }),
  "content on another disk": one({ extra: onDisk(1) }),
  "sizes of 64 bits twice": one({ extra: Buffer.concat([sizes(7), sizes(7)]) }),
  "an extra field past its end": one({ extra: Buffer.from([1, 0, 99, 0]) }),
  "a name that is not said to be UTF-8": one({ name: "é.tf" }),
  "a name that is not UTF-8": one({
    name: Buffer.from("\xff.tf", "latin1"),
    flags: 0x800,
  }),
  "a name with a backslash": one({ name: "a\\main.tf" }),
  "a name with a NUL": one({ name: "main.tf\0.txt" }),
  "an empty name": one({ name: "" }),
  "an absolute name": one({ name: "/main.tf" }),
  "a name with a drive": one({ name: "C:main.tf" }),
  "a name above": one({ name: "../main.tf" }),
  "a file named as a directory": one({ name: "main/" }),
  "a directory with content": one({ name: "main/", attributes: 0x41ed0000 }),
  "a directory named as a file": one({
    attributes: 0x41ed0000,
    content: "",
    deflate: false,
  }),
  "a directory of DOS named as a file": one({
    attributes: 0x10,
    host: 0,
    content: "",
    deflate: false,
  }),
  "a link that was made on DOS": one({ attributes: 0xa1ff0000, host: 0 }),
  "a link to elsewhere": one({
    attributes: 0xa1ff0000,
    content: "/etc/passwd",
  }),
  "a link named as a directory": one({
    name: "main/",
    attributes: 0xa1ff0000,
    content: "",
    deflate: false,
  }),
  "a link by too long a way": two({
    attributes: 0xa1ff0000,
    content: `${"./".repeat(2045)}main.tf`,
  }),
  "a device": one({ attributes: 0x21b60000, content: "", deflate: false }),
  "a name twice": two({ name: "main.tf" }),
  "a name in two cases": two({ name: "Main.TF" }),
  "a file and a directory of one name": two({ name: "main.tf/a.tf" }),
  "two entries of one content": two({ headerStart: 0 }),
  "an entry inside another": zipBytes([
    { ...main, name: "outer", content: entriesOf([hidden]), deflate: false },
    { ...hidden, headerStart: 35, localName: "hidden.tf" },
  ]),
  "more content than announced": one({ size: 3, local: { size: 3 } }),
  "less content than announced": one({ size: 30, local: { size: 30 } }),
  "a wrong CRC": one({ crc32: 1 }),
  "no CRC": one({ crc32: 0 }),
};

const long = Buffer.alloc(24);
long.writeUInt32LE(0x08074b50, 0);
long.writeUInt32LE(crc32(text), 4);
long.writeBigUInt64LE(BigInt(text.length), 8);
long.writeBigUInt64LE(BigInt(text.length), 16);

/** What the writers of the field make: each must be accepted, and read as Go reads it. */
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
  "a data descriptor of 64 bits": one({
    flags: 8,
    deflate: false,
    described: long,
  }),
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
  "content on the first disk": one({ extra: onDisk(0) }),
  "an unknown field twice": one({
    extra: Buffer.concat([field(0x9999, size), field(0x9999, size)]),
  }),
  "a link by a long way": two({
    attributes: 0xa1ff0000,
    content: `${"./".repeat(2044)}main.tf`,
  }),
  "a comment": zipBytes([main], { comment: Buffer.from("0123456789abcdef") }),
  "a link inside": two({ attributes: 0xa1ff0000, content: "main.tf" }),
  "an empty file": one({ content: "", deflate: false }),
};
