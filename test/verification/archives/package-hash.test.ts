import { hash } from "node:crypto";
import { constants, crc32, deflateRawSync } from "node:zlib";
import fc from "../../seeded.ts";
import { expect, test } from "vitest";
import { hashBytes, packageLimits as limits } from "./own-reading.ts";
import {
  executable,
  le,
  zip64Bytes,
  zipBytes,
  type ZipPart,
  type ZipShape,
} from "./zip-bytes.ts";

/** Hash1 as its documentation words it: find, sort, sha256sum, sha256sum. */
function naiveOf(parts: readonly ZipPart[]): string {
  const lines = parts
    .map(({ name, content }) => ({ name: Buffer.from(name), content }))
    .toSorted((a, b) => Buffer.compare(a.name, b.name))
    .flatMap(({ name, content }) => [
      Buffer.from(`${hash("sha256", content)}  `),
      ...[name, Buffer.from("\n")],
    ]);
  return `h1:${hash("sha256", Buffer.concat(lines), "base64")}`;
}

test("computes the h1 that terraform computes, also of names that are not UTF-8", async () => {
  // Terraform 1.11.4 got these archives as a packed filesystem mirror. `terraform init` with a lock file that holds only this h1 accepted
  // the archive, and refused it with any other h1.
  const parts: readonly ZipPart[] = [
    executable,
    { name: "LICENSE.txt", content: "Mozilla" },
    { name: "docs/a.md", content: "" },
    { name: "a", content: "x".repeat(50), deflate: true },
    { name: Buffer.from([0xff, 0x41]), content: "raw" },
    { name: "é", content: "utf8" },
  ];
  expect(await hashBytes(zipBytes(parts))).toBe(
    "h1:e3PPxVGLPf6FSKkJNLuzYyOoah/q5Ck+0Xhcpz6UW1g=",
  );
});

const text = String(executable.content);
const deflated = deflateRawSync(text);
const one = (lie: Partial<ZipPart>, shape: ZipShape = {}) =>
  zipBytes([{ ...executable, ...lie }], shape);
/** A descriptor without the signature, which is optional. */
const described = le(4, crc32(text), deflated.length, text.length);

test.each<[string, Buffer]>([
  ["with a comment", one({}, { comment: Buffer.from("hi") })],
  ["with another local name", one({ localName: "b" })],
  ["behind bytes of no entry", one({}, { before: Buffer.from("MZ") })],
  ["with a bare descriptor", one({ flags: 8, described })],
])("computes the same h1 of a zip %s", async (_, bytes) => {
  expect(await hashBytes(bytes)).toBe(naiveOf([executable]));
});

test("hashes content of many pieces, compressed and stored", async () => {
  const content = Buffer.alloc(5 << 20, "0123456789abcdef/");
  const parts: readonly ZipPart[] = [
    { name: "b", content, deflate: true },
    { name: "a", content: content.subarray(1) },
  ];
  expect(await hashBytes(zipBytes(parts))).toBe(naiveOf(parts));
});

test("equals the naive computation for any names and contents", async () => {
  const name = fc
    .uint8Array({ minLength: 1, maxLength: 12 })
    .map((bytes) => Buffer.from(bytes))
    .filter((bytes) => !bytes.includes(0x0a) && !bytes.includes(0x2f))
    .filter((bytes) => ![".", ".."].includes(bytes.toString("latin1")));
  const part = fc.record({
    name,
    content: fc
      .uint8Array({ maxLength: 300, size: "max" })
      .map((bytes) => Buffer.from(bytes)),
    deflate: fc.boolean(),
    flags: fc.constantFrom(0, 8, 0x800, 0x808),
  });
  const selector = (one: { name: Buffer }) => one.name.toString("hex");
  const unique = { maxLength: 8, selector };
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(part, unique), async (parts) => {
      const expected = naiveOf(parts);
      expect(await hashBytes(zipBytes(parts))).toBe(expected);
      expect(await hashBytes(zip64Bytes(parts))).toBe(expected);
    }),
  );
});

test("a fault of the program does not count as one of the archive", async () => {
  const within = {
    ...limits,
    get entries(): number {
      throw new TypeError();
    },
  };
  const hashed = hashBytes(zipBytes([executable]), within);
  await expect(hashed).rejects.toThrow(TypeError);
});

const two = (lie: Partial<ZipPart>) =>
  zipBytes([executable, { name: "b", content: "b", ...lie }]);

/** With another locator of the zip64 record: where that is, and on how many disks. */
function locatedAt(place: bigint | undefined, disks = 1): Buffer {
  const bytes = zip64Bytes([executable]);
  const locator = bytes.length - 22 - 20;
  if (place !== undefined) bytes.writeBigUInt64LE(place, locator + 8);
  bytes.writeUInt32LE(disks, locator + 16);
  return bytes;
}

/** Expands to 8 MiB, then is damaged. */
const damagedBomb = Buffer.concat([
  deflateRawSync(Buffer.alloc(8 << 20), {
    finishFlush: constants.Z_SYNC_FLUSH,
  }),
  Buffer.alloc(9, 6),
]);
const many = zipBytes(["1", "2", "3"].map((name) => ({ name, content: "" })));
const bomb = one({ content: Buffer.alloc(100_000) });
const [gap, large] = [Buffer.alloc(9), Buffer.alloc(5000)];
const withJunk = Buffer.concat([deflated, gap]);
const wrong = Buffer.alloc(16, "PK\x07\x08");
const unasked64 = zip64Bytes([executable], {
  entryCount: 1,
  directoryStart: 0,
});
const nested = zipBytes([
  { name: "outer", content: zipBytes([executable]) },
  { ...executable, headerStart: 35 },
]);

test.each<[string, string, Buffer, Partial<typeof limits>?]>([
  ["a cut zip", "signature not found", one({}).subarray(0, -1)],
  ["a directory", "directory", two({ name: "docs/" })],
  ["a directory by its mode", "directory", two({ attributes: 0x41ed0000 })],
  ["a directory by DOS", "directory", two({ attributes: 0x10 })],
  ["a newline in a name", "newline", two({ name: "a\nb" })],
  // Terraform 1.11.4 writes another h1 of these than "terraform providers lock".
  ["two entries of one name", "one name", two({ name: executable.name })],
  ...["/b", "a//b", "a/./b", "..", "../../b"].map(
    (name): [string, string, Buffer] => [
      ...([`the name ${name}`, "where it is unpacked"] as const),
      two({ name }),
    ],
  ),
  ["an encrypted entry", "encrypted", one({ flags: 1 })],
  ["an unknown method", "method 12", one({ method: 12 })],
  ["a wrong CRC", "CRC", one({ crc32: 1 })],
  ["a descriptor's wrong CRC", "CRC", one({ flags: 8, described: wrong })],
  ["more content than announced", "size", one({ size: text.length - 1 })],
  ["a stored one of two sizes", "mismatch", one({ deflate: false, size: 3 })],
  ["more than is deflated", "size", one({ raw: withJunk })],
  ["cut content", "unexpected end", one({ raw: deflated.subarray(0, -2) })],
  ["damaged content", "invalid", one({ raw: Buffer.alloc(9, 6) })],
  ["content past the end", "file bounds", one({ rawBytes: 1 << 20 })],
  ["a header past the end", "own end", one({ headerStart: 1 << 20 })],
  ["no header at its place", "local file header", one({ headerStart: 1 })],
  ["two entries at one place", "overlap", two({ headerStart: 0 })],
  ["an entry inside another", "overlap", nested],
  ["an entry over the directory", "overlap", one({ rawBytes: 40 })],
  ["bytes after the end", "comment length", Buffer.concat([one({}), gap])],
  ["a gap before the end", "not where", one({}, { afterDirectory: gap })],
  ["bytes that offsets ignore", "not where", Buffer.concat([gap, one({})])],
  ["fewer entries than there are", "announces", one({}, { entryCount: 0 })],
  ["more entries than there are", "own end", one({}, { entryCount: 2 })],
  ["a zip64 record that only some readers use", "zip64", unasked64],
  ["a zip64 archive of two disks", "zip64", locatedAt(undefined, 2)],
  ["a zip64 record at no safe integer", "own end", locatedAt(2n ** 63n)],
  ["many entries", "more than 2 entries", many, { entries: 2 }],
  ["many bytes", "more than 99999 bytes", bomb, { expandedBytes: 99_999 }],
  ["a bomb", "200 times", bomb, { ratio: 200 }],
  ["a lying size before any damage", "size that", one({ raw: damagedBomb })],
  ["a large directory", "too large", one({ extra: large }), { entries: 1 }],
])("refuses %s", async (_, reason, bytes, lower = {}) => {
  const said = await hashBytes(bytes, { ...limits, ...lower });
  expect(said).toMatch(/^refused: /);
  expect(said).toContain(reason);
});

test("allows what just fits", async () => {
  const exact = { ...limits, entries: 3, expandedBytes: 100_000 };
  expect(await hashBytes(many, exact)).toMatch(/^h1:/);
  expect(await hashBytes(bomb, exact)).toMatch(/^h1:/);
});
