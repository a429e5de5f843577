import { createHash } from "node:crypto";
import fc from "../../seeded.ts";
import { describe, expect, test } from "vitest";
import { hashPackage } from "../../../src/verification/archives/package-hash.ts";
import { executable, hashBytes, limits } from "./hash-bytes.ts";
import { withArchive } from "./own-reading.ts";
import { zip64Bytes, zipBytes, type ZipPart } from "./zip-bytes.ts";

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
    ["stored", zipBytes([{ ...executable, deflate: false }])],
    ["with a comment", zipBytes([executable], { comment: Buffer.from("hi") })],
    ["with a data descriptor", zipBytes([{ ...executable, flags: 8 }])],
    [
      "with another local name",
      zipBytes([{ ...executable, local: { name: "b" } }]),
    ],
    ["zip64", zip64Bytes([executable])],
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
  const bytes = zipBytes([executable]);
  const within = undefined as unknown as typeof limits;
  const hashed = withArchive(bytes, (archive) => hashPackage(archive, within));
  await expect(hashed).rejects.toThrow(TypeError);
});

test("a file that cannot be read is a fault of the disk, not of the archive", async () => {
  const bytes = zipBytes([{ name: "a", content: Buffer.alloc(200_000, "a") }]);
  const hashed = withArchive(bytes.subarray(0, 1000), ({ fd }) =>
    hashPackage({ fd, size: bytes.length }, limits),
  );
  await expect(hashed).rejects.toMatchObject({ code: "EIO" });
});
