import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { crc32, deflateRawSync } from "node:zlib";
import { expect, it } from "vitest";
import { gunzip } from "../../../src/verification/archives/gzip.ts";
import { scratch } from "../../running-mirror.ts";

const content = Buffer.from("content");

function word(value: number, octets: number): Buffer {
  const field = Buffer.alloc(octets);
  field.writeUIntLE(value, 0, octets);
  return field;
}

/** A gzip member with these flags and fields (RFC 1952, 2.3). */
function member(flags: number, fields: readonly Uint8Array[] = []): Buffer {
  const start = Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3]);
  return Buffer.concat([start, ...fields]);
}

const sound = Buffer.concat([
  deflateRawSync(content),
  word(crc32(content), 4),
  word(content.length, 4),
]);
const withSum = (header: Buffer, wrong = 0) =>
  Buffer.concat([header, word((crc32(header) + wrong) & 0xffff, 2)]);
const named = (length: number) => [Buffer.alloc(length, "n"), Buffer.alloc(1)];
const changed = (place: number) => {
  const bytes = Buffer.from(sound);
  const at = bytes.length - place;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
};

const endless = "its gzip header has no end";
const other = "it is not of the kind that its name says";

it.each<[string, readonly Uint8Array[], string]>([
  ["without fields", [member(0), sound], "content"],
  ["as text", [member(1), sound], "content"],
  ["an extra field", [member(4, [word(3, 2), word(7, 3)]), sound], "content"],
  ["an empty extra field", [member(4, [word(0, 2)]), sound], "content"],
  ["a name", [member(8, named(3)), sound], "content"],
  ["a comment", [member(16, named(3)), sound], "content"],
  [
    "a name and a comment",
    [member(24, [...named(2), ...named(3)]), sound],
    "content",
  ],
  ["a name of 511 bytes", [member(8, named(511)), sound], "content"],
  ["a name of 512 bytes", [member(8, named(512)), sound], endless],
  ["a comment of 512 bytes", [member(16, named(512)), sound], endless],
  ["a name without an end", [member(8, [Buffer.from("name")])], endless],
  [
    "all fields",
    [
      withSum(member(30, [word(1, 2), word(7, 1), ...named(2), ...named(2)])),
      sound,
    ],
    "content",
  ],
  ["a checksum of its own", [withSum(member(2)), sound], "content"],
  [
    "a wrong checksum of its own",
    [withSum(member(2), 1), sound],
    "its gzip header has a wrong checksum",
  ],
  [
    "a checksum that is cut",
    [member(2), Buffer.of(1)],
    "its gzip header has a wrong checksum",
  ],
  [
    "an unknown flag",
    [member(32), sound],
    "its gzip header is of an unknown kind",
  ],
  ["nothing behind it", [member(0)], "it is cut short"],
  ["a length that is cut", [member(4), Buffer.of(1)], "it is cut short"],
  ["9 bytes", [member(0).subarray(0, 9)], other],
  [
    "another method",
    [Buffer.from([0x1f, 0x8b, 7]), member(0).subarray(3), sound],
    other,
  ],
  [
    "another checksum behind it",
    [member(0), changed(5)],
    "its gzip checksum is wrong",
  ],
  ["another size behind it", [member(0), changed(1)], "its gzip size is wrong"],
  [
    "a second member",
    [member(0), sound, member(0), sound],
    "it has bytes after its gzip member",
  ],
])("a gzip header with %s", async (_fields, parts, expected) => {
  const path = join(scratch("gzip"), "archive.gz");
  const bytes = Buffer.concat(parts);
  await writeFile(path, bytes);
  await using file = await open(path);
  const archive = { fd: file.fd, size: bytes.length };
  const read = buffer(gunzip(archive)).then(String);
  if (expected === "content") expect(await read).toBe(expected);
  else await expect(read).rejects.toThrow(expected);
});
