import { createHash } from "node:crypto";
import { constants, deflateRawSync } from "node:zlib";
import fc from "../../seeded.ts";
import { describe, expect, test } from "vitest";
import answer from "../../../src/verification/archives/archive-worker.ts";
import {
  hashBytes,
  packageLimits as limits,
  withArchive,
} from "./own-reading.ts";
import {
  executable,
  zip64Bytes,
  zipBytes,
  type ZipPart,
  type ZipShape,
} from "./zip-bytes.ts";

/** Hash1 as its documentation words it: find, sort, sha256sum, sha256sum. */
function naive(contents: readonly (readonly [Buffer, Buffer])[]): string {
  const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes);
  const lines = contents
    .toSorted(([a], [b]) => Buffer.compare(a, b))
    .map(([name, content]) =>
      Buffer.concat([
        Buffer.from(`${sha256(content).digest("hex")}  `),
        name,
        Buffer.from("\n"),
      ]),
    );
  return `h1:${sha256(Buffer.concat(lines)).digest("base64")}`;
}

function naiveOf(parts: readonly ZipPart[]): string {
  return naive(parts.map((p) => [Buffer.from(p.name), Buffer.from(p.content)]));
}

describe("computes the h1 that terraform computes", () => {
  // Terraform 1.11.4 got these archives as a packed filesystem mirror. `terraform init` with a lock file that holds only this h1 accepted
  // the archive, and refused it with any other h1.
  const several: readonly ZipPart[] = [
    executable,
    { name: "LICENSE.txt", content: "Mozilla" },
    { name: "docs/a.md", content: "" },
    { name: "a", content: "x".repeat(50), deflate: true },
    { name: Buffer.from([0xff, 0x41]), content: "raw" },
    { name: "é", content: "utf8" },
  ];
  test.each<[string, readonly ZipPart[], string]>([
    [
      "several entries, names that are not UTF-8 among them",
      several,
      "h1:e3PPxVGLPf6FSKkJNLuzYyOoah/q5Ck+0Xhcpz6UW1g=",
    ],
    // Written into the lock file by `terraform providers lock -fs-mirror`.
    [
      "one executable",
      [executable],
      "h1:GzJcE5moubFlsRsYOQLhnbnOrNkehqzPUqwYT/Z9c6w=",
    ],
  ])("for %s", async (_, parts, expected) => {
    expect(await hashBytes(zipBytes(parts))).toBe(expected);
  });
});

describe("computes the same h1 however the zip is made", () => {
  const expected = naiveOf([executable]);
  test.each<[string, Buffer]>([
    ["with a comment", zipBytes([executable], { comment: Buffer.from("hi") })],
    [
      "with another local name",
      zipBytes([{ ...executable, local: { name: "b" } }]),
    ],
    [
      "after bytes that belong to no entry",
      zipBytes([executable], { before: Buffer.from("MZ") }),
    ],
  ])("%s", async (_, bytes) => {
    expect(await hashBytes(bytes)).toBe(expected);
  });
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

test("a file that cannot be read is a fault of the disk, not of the archive", async () => {
  const bytes = zipBytes([{ name: "a", content: Buffer.alloc(200_000, "a") }]);
  const hashed = withArchive(bytes.subarray(0, 1000), ({ fd }) =>
    answer({ archive: { fd, size: bytes.length }, limits }),
  );
  await expect(hashed).rejects.toMatchObject({ code: "EIO" });
});

describe("refuses", () => {
  const text = String(executable.content);
  const deflated = deflateRawSync(text);
  const one = (lie: Partial<ZipPart>, shape: ZipShape = {}) =>
    zipBytes([{ ...executable, ...lie }], shape);
  const two = (lie: Partial<ZipPart>) =>
    zipBytes([executable, { name: "b", content: "b", ...lie }]);
  test.each<[string, string, Buffer]>([
    ["an empty file", "signature not found", Buffer.alloc(0)],
    ["a cut zip", "signature not found", one({}).subarray(0, -1)],
    ["a directory", "directory", two({ name: "docs/" })],
    ["a directory by its mode", "directory", two({ attributes: 0x41ed0000 })],
    ["a directory by DOS", "directory", two({ attributes: 0x10 })],
    ["a newline in a name", "newline", two({ name: "a\nb" })],
    // Terraform 1.11.4 writes another h1 of these than "terraform providers lock".
    ["two entries of one name", "one name", two({ name: executable.name })],
    ...["/b", "./b", "a//b", "a/./b", "a/../b", "..", "../../b"].map(
      (name): [string, string, Buffer] => [
        ...([`the name ${name}`, "where it is unpacked"] as const),
        two({ name }),
      ],
    ),
    ["an encrypted entry", "encrypted", one({ flags: 1 })],
    ["an unknown method", "method 12", one({ method: 12 })],
    ["a wrong CRC", "CRC", one({ crc32: 1 })],
    [
      "a wrong CRC in the data descriptor",
      "CRC",
      one({ flags: 8, described: Buffer.alloc(16, "PK\x07\x08") }),
    ],
    ["more content than announced", "size", one({ size: text.length - 1 })],
    [
      "a stored entry of two sizes",
      "size mismatch",
      one({ deflate: false, size: 3 }),
    ],
    [
      "bytes after the compressed content",
      "size",
      one({ raw: Buffer.concat([deflated, Buffer.from("junk")]) }),
    ],
    [
      "cut compressed content",
      "unexpected end",
      one({ raw: deflated.subarray(0, -2) }),
    ],
    ["damaged compressed content", "invalid", one({ raw: Buffer.alloc(9, 6) })],
    ["content past the end", "file bounds", one({ rawBytes: 1 << 20 })],
    ["a header past the end", "own end", one({ headerStart: 1 << 20 })],
    ["no header at its place", "local file header", one({ headerStart: 1 })],
    ["two entries at one place", "overlap", two({ headerStart: 0 })],
    [
      "an entry inside another",
      "overlap",
      zipBytes([
        { name: "outer", content: zipBytes([executable]) },
        { ...executable, headerStart: 35 },
      ]),
    ],
    ["an entry over the directory", "overlap", one({ rawBytes: 40 })],
    ["bytes after the end", "comment length", one({}, { after: Buffer.of(0) })],
    [
      "bytes between the directory and its end",
      "not where",
      one({}, { afterDirectory: Buffer.alloc(9) }),
    ],
    [
      "bytes before the zip that its offsets ignore",
      "not where",
      Buffer.concat([Buffer.from("MZ"), one({})]),
    ],
    ["fewer entries than there are", "announces", one({}, { entryCount: 0 })],
    ["more entries than there are", "own end", one({}, { entryCount: 2 })],
    [
      "a zip64 record that only some readers use",
      "zip64",
      zip64Bytes([executable], { entryCount: 1, directoryStart: 0 }),
    ],
    ["a zip64 archive of two disks", "zip64", locatedAt(undefined, 2)],
    ["a zip64 record at no safe integer", "own end", locatedAt(2n ** 63n)],
  ])("%s", async (_, reason, bytes) => {
    const [said, why] = (await hashBytes(bytes)).split(": ");
    expect(said).toBe("refused");
    expect(why).toContain(reason);
  });
});

/** With another locator of the zip64 record: where that is, and on how many disks. */
function locatedAt(place: bigint | undefined, disks = 1): Buffer {
  const bytes = zip64Bytes([executable]);
  const locator = bytes.length - 22 - 20;
  if (place !== undefined) bytes.writeBigUInt64LE(place, locator + 8);
  bytes.writeUInt32LE(disks, locator + 16);
  return bytes;
}

/** Expands to 8 MiB, then is damaged. */
function damagedBomb(): Buffer {
  const flushed = deflateRawSync(Buffer.alloc(8 << 20), {
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  return Buffer.concat([flushed, Buffer.alloc(9, 6)]);
}

describe("holds its limits", () => {
  const zeros = Buffer.alloc(100_000);
  const many = [1, 2, 3].map((n) => ({ name: String(n), content: "" }));
  const bomb = zipBytes([{ name: "zeros", content: zeros, deflate: true }]);
  test.each<[string, Buffer, Partial<typeof limits>, string]>([
    ["entries", zipBytes(many), { entries: 2 }, "more than 2 entries"],
    ["expanded bytes", bomb, { expandedBytes: 99_999 }, "99999 bytes"],
    ["ratio", bomb, { ratio: 200 }, "200 times"],
    [
      "a lying size, noticed before the damage that comes later",
      zipBytes([{ ...executable, raw: damagedBomb() }]),
      {},
      "size that it announces",
    ],
    [
      "the central directory",
      zipBytes([{ ...executable, extra: Buffer.alloc(5000) }]),
      { entries: 1 },
      "too large",
    ],
  ])("%s", async (_, bytes, lower, reason) => {
    const said = await hashBytes(bytes, { ...limits, ...lower });
    expect(said).toMatch(new RegExp(`^refused: .*${reason}`));
  });

  test("and allows what just fits", async () => {
    const exact = { entries: 3, expandedBytes: 100_000, ratio: 1000 };
    expect(await hashBytes(zipBytes(many), exact)).toMatch(/^h1:/);
    expect(await hashBytes(bomb, exact)).toMatch(/^h1:/);
  });
});
