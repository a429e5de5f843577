import { crc32 } from "node:zlib";
import { zip64Bytes, zipBytes } from "./zip-bytes.ts";
import {
  text,
  main,
  hidden,
  one,
  two,
  entriesOf,
  field,
  unicodePath,
  sizes,
  full,
  size,
  onDisk,
  descriptor,
  signature,
  plain,
  patched,
  described,
} from "./zip-cases.ts";

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
  "a zip64 record that is not needed": zip64Bytes([main], {
    ...{ entryCount: 1, directoryStart: plain.readUInt32LE(plain.length - 6) },
  }),
  "a zip64 record and another place": zip64Bytes([main], { directoryStart: 1 }),
  "a zip64 record and another size": zip64Bytes([main], { directoryBytes: 1 }),
  "a zip64 record on another disk": patched(zip64Bytes([main]), 42 - 4),
  "a zip64 record with other entries on this disk": patched(
    zip64Bytes([main]),
    98 - 24,
  ),
  "a zip64 record with something behind it": Buffer.concat([
    zip64Bytes([main]).subarray(0, -42),
    Buffer.alloc(4),
    zip64Bytes([main]).subarray(-42),
  ]),
  "a directory on another disk": patched(one({}), 22 - 6),
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
  "a flag for a descriptor, without one": one({
    flags: 8,
    described: Buffer.alloc(0),
  }),
  "a descriptor without its flag": one({ described: Buffer.alloc(16) }),
  "a descriptor with another size": described(descriptor(4, undefined, [9, 8])),
  "a descriptor with another size, compressed": described(
    descriptor(4, signature, [8, 7]),
  ),
  "a descriptor of 64 bits with another size": described(
    descriptor(8, undefined, [9, 8]),
  ),
  "a descriptor of 64 bits with another size, compressed": described(
    descriptor(8, signature, [8, 7]),
  ),
  "a descriptor with another CRC": described(
    descriptor(4, undefined, [9, 7], 1),
  ),
  "a descriptor with another signature": described(descriptor(4, 0x08074b51)),
  "a CRC for the signature of a descriptor": described(
    descriptor(4, crc32(text)),
  ),
  "a descriptor with a size beyond 32 bits": described(
    descriptor(8, signature, [9, 7 + 2 ** 32]),
  ),
  "a descriptor with a size beyond 32 bits, compressed": described(
    descriptor(8, undefined, [9 + 2 ** 32, 7]),
  ),
  "a whole descriptor without its flag": one({
    described: descriptor(4, signature),
  }),
  "a byte after a descriptor": described(
    Buffer.concat([descriptor(4), Buffer.of(0)]),
  ),
  "a word after a descriptor": described(
    Buffer.concat([descriptor(4), Buffer.alloc(4)]),
  ),
  "two descriptors": described(
    Buffer.concat([descriptor(4, signature), descriptor(4, signature)]),
  ),
  "nothing before the content, and no descriptor": one({
    local: { size: 0, rawBytes: 0, crc32: 0 },
  }),
  "no size before the content, and no descriptor": one({ local: { size: 0 } }),
  "a descriptor, and another CRC before the content": one({
    flags: 8,
    local: { crc32: 3 },
  }),
  "a descriptor, and another size before the content": one({
    flags: 8,
    local: { size: 3 },
  }),
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
  "sizes of 64 bits in another order": one({ extra: sizes(9, 7) }),
  "other sizes of 64 bits before the content": one({
    local: { size: 0xffffffff, rawBytes: 0xffffffff, extra: sizes(3, 3) },
  }),
  "full sizes before the content, and none of 64 bits": one({
    local: { size: full, rawBytes: full },
  }),
  "full sizes before the content, and a field of something else": one({
    local: { size: full, rawBytes: full, extra: field(0x9999, sizes(9, 9)) },
  }),
  "one size of 64 bits before the content": one({
    local: {
      ...{ size: full, rawBytes: full },
      extra: Buffer.concat([sizes(7), field(0x9999, size)]),
    },
  }),
  "a place for a size of 64 bits before the content": one({
    local: { size: full, rawBytes: full, extra: sizes(7, 0) },
  }),
  "sizes of 64 bits in another order before the content": one({
    local: { size: full, rawBytes: full, extra: sizes(9, 7) },
  }),
  "one full size before the content": one({
    local: { size: full, extra: sizes(7, 9) },
  }),
  "one full compressed size before the content": one({
    local: { rawBytes: full, extra: sizes(7, 9) },
  }),
  "a full CRC before the content": one({
    local: { crc32: full, size: full, rawBytes: full, extra: sizes(7, 9) },
  }),
  "content on another disk": one({ extra: onDisk(1) }),
  "a number of a disk that is too long": one({
    extra: field(1, Buffer.concat([size, Buffer.alloc(5)])),
  }),
  "half a number of a disk": one({
    extra: field(1, Buffer.concat([size, Buffer.alloc(2)])),
  }),
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
  "an empty file named as a directory": one({
    name: "main/",
    content: "",
    deflate: false,
  }),
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
