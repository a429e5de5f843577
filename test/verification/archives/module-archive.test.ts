import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ArchiveFormat } from "../../../src/address/module-archive-name.ts";
import answer from "../../../src/verification/archives/archive-worker.ts";
import { readMembers } from "../../../src/verification/archives/module-archive.ts";
import { limits, withArchive } from "./own-reading.ts";
import {
  end,
  long,
  main,
  pax,
  tarBytes,
  tarGzBytes,
  type TarPart,
} from "./tar-bytes.ts";
import { le, zip64Bytes, zipBytes, type ZipPart } from "./zip-bytes.ts";

/** The members with what they hold, or why the archive is refused. */
function read(format: ArchiveFormat, bytes: Buffer): Promise<string> {
  return withArchive(bytes, async (archive) => {
    const contents: Buffer[][] = [];
    const reading = readMembers(format, archive, limits, () => {
      const content: Buffer[] = [];
      contents.push(content);
      return (piece) => content.push(Buffer.from(piece));
    });
    const members = await reading.catch((error: unknown) => error as Error);
    if (members instanceof Error) return `refused: ${members.message}`;
    const told = members.map((member, at) => {
      const target = member.target ? ` -> ${member.target}` : "";
      const text = Buffer.concat(contents[at] ?? []).toString();
      const content = text.length < 20 ? text.trim() : `${text.length} octets`;
      return `${member.kind} ${member.name}${target} ${content}`.trim();
    });
    return told.join(", ");
  });
}

const empty: TarPart = { name: "a" };
const gnu = "ustar  \0";
const directory = (more: Partial<TarPart> = {}): TarPart => ({
  ...{ name: "modules/", type: "5" },
  ...more,
});
const nothing = Buffer.of();
/** What `main` is read as. */
const plain = "file main.tf # main";

it.each<[string, Buffer | readonly (TarPart | Buffer)[], string]>([
  ["no members", [], "refused: it is empty"],
  [
    "two files",
    [main, { ...empty, content: "x".repeat(1e5) }],
    "file main.tf # main, file a 100000 octets",
  ],
  ["no end", tarBytes([main], nothing), plain],
  ["members after an end", [empty, end, main], "file a, file main.tf # main"],
  ["a contiguous file", [{ ...main, type: "7" }], plain],
  ["a directory", [directory()], "directory modules/"],
  [
    "an old form",
    [
      { ...main, magic: "", at: [[257, "\0".repeat(255)]] },
      directory({ type: "\0", magic: "" }),
    ],
    "file main.tf # main, directory modules/",
  ],
  [
    "long names of GNU",
    [
      long(`${"l".repeat(150)}.tf`),
      { ...main, magic: gnu },
      long("target".repeat(30), "K"),
      { name: "link", type: "2", link: "x", magic: gnu },
    ],
    `file ${"l".repeat(150)}.tf # main, symbolic link link -> ${"target".repeat(30)}`,
  ],
  [
    "the names of git",
    [
      pax({ comment: "0123456789abcdef" }, "g"),
      directory({ name: "module-1.0/" }),
      pax({ path: `module-1.0/${"p".repeat(200)}.tf` }),
      main,
    ],
    `directory module-1.0/, file module-1.0/${"p".repeat(200)}.tf # main`,
  ],
  [
    "links inside",
    [
      { name: "a/link", type: "2", link: "../main.tf" },
      { name: "hard", type: "1", link: "main.tf" },
    ],
    "symbolic link a/link -> ../main.tf, hard link hard -> main.tf",
  ],
  [
    "a name outside",
    [{ name: "../main.tf" }],
    'refused: a member is named "../main.tf"',
  ],
  [
    "a cut header",
    tarBytes([main], Buffer.alloc(300)),
    "refused: Unexpected end of data",
  ],
  [
    "cut content",
    tarBytes([main], nothing).subarray(0, -1),
    "refused: Unexpected end of data",
  ],
  [
    "content of a directory",
    [directory({ content: "x" })],
    "refused: a directory has content",
  ],
  [
    "content of a hard link",
    [{ ...empty, type: "1", link: "b", content: "x" }],
    "refused: a hard link has content",
  ],
  [
    "attributes of a sparse file",
    [pax({ "GNU.sparse.realsize": "9".repeat(18) }), empty],
    "refused: it has a sparse file",
  ],
  [
    "too many attributes",
    [pax({ comment: "c".repeat(65_536) }), empty],
    "refused: a member has too many attributes",
  ],
  [
    "a character device",
    [{ ...empty, type: "3" }],
    "refused: it has a character-device",
  ],
  [
    "an old sparse file",
    [{ ...empty, type: "S" }],
    "refused: it has a member of an unknown type",
  ],
])("a tar with %s: %#", async (_what, tar, told) => {
  const bytes = Buffer.isBuffer(tar) ? tar : tarBytes(tar);
  expect(await read("tar.gz", gzipSync(bytes))).toBe(told);
});

/** With an extra field, a name, a comment and a checksum of the header. */
const withHeader = (gzip: Buffer) =>
  Buffer.concat([
    Buffer.from([0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3, 3, 0]),
    Buffer.from("abcname\0comment\0##", "latin1"),
    gzip.subarray(10),
  ]);
const good = tarGzBytes([main]);
const behind = (text: string) =>
  Buffer.concat([good, Buffer.from(text, "latin1")]);
const outside = tarGzBytes([{ name: "../main.tf" }]);
const [half, rest] = [0, 700].map((from) =>
  gzipSync(tarBytes([main]).subarray(from, from === 0 ? 700 : undefined)),
);
const zeros = (mebibytes: number) => ({
  ...{ name: "a", content: Buffer.alloc(mebibytes << 20) },
});

it.each<[string, Buffer, string]>([
  ["names in its header", withHeader(good), plain],
  ["bytes behind its end", behind("\0\0more"), plain],
  ["the start of another behind", behind("\x1f\x8b\x08x"), plain],
  ["much behind its end", behind("x".repeat(3 << 20)), plain],
  ["two members", Buffer.concat([half ?? nothing, rest ?? nothing]), plain],
  [
    "a second member that leads outside",
    Buffer.concat([gzipSync(tarBytes([main], nothing)), outside]),
    'refused: a member is named "../main.tf"',
  ],
  [
    "a second member that is cut",
    Buffer.concat([good, outside.subarray(0, -1)]),
    "refused: unexpected end of file",
  ],
  ["its end cut", good.subarray(0, -9), "refused: unexpected end of file"],
  [
    "a wrong checksum",
    Buffer.concat([good.subarray(0, -8), Buffer.alloc(8)]),
    "refused: incorrect data check",
  ],
  [
    "what does no harm",
    gzipSync(tarBytes([zeros(1)], nothing)),
    "file a 1048576 octets",
  ],
  [
    "200 times its size",
    tarGzBytes([zeros(4)]),
    "refused: it expands to more than 200 times its size",
  ],
])("a gzip with %s: %#", async (_what, gzip, told) => {
  expect(await read("tar.gz", gzip)).toBe(told);
});

const zipped: ZipPart = {
  ...{ name: "main.tf", content: "# main\n", deflate: true },
  attributes: 0o100644 * 0x10000,
};
const one = (lie: Partial<ZipPart>) => zipBytes([{ ...zipped, ...lie }]);
const folder = { content: "", deflate: false };
const link = { attributes: 0xa1ff0000 };

/** Of what `zipped` holds, without a signature. */
const described = le(
  ...([4, crc32(zipped.content)] as const),
  deflateRawSync(zipped.content).length,
  zipped.content.length,
);

it.each<[string, Buffer | Partial<ZipPart>, string]>([
  ["no entries", zipBytes([]), "refused: it is empty"],
  ["a file", {}, plain],
  ["an empty file", one(folder), "file main.tf"],
  ["another name before its content", { local: { name: "other" } }, plain],
  ["a folder of DOS", { ...folder, attributes: 0x10 }, "directory main.tf"],
  [
    "a folder by its name",
    { ...folder, name: "a/", attributes: 0 },
    "directory a/",
  ],
  [
    "a link inside",
    { ...link, content: "README" },
    "symbolic link main.tf -> README",
  ],
  [
    "a link by the longest way",
    { ...link, content: `${"./".repeat(2044)}main.tf` },
    `symbolic link main.tf -> ${"./".repeat(2044)}main.tf`,
  ],
  ["a data descriptor", { flags: 8 }, plain],
  ["a descriptor without a signature", { flags: 8, described }, plain],
  ["a directory of 64 bits", zip64Bytes([zipped]), plain],
  [
    "a device",
    { attributes: 0x21a40000 },
    "refused: it has a device or a pipe",
  ],
  [
    "a link with a long target",
    { ...link, content: "x".repeat(4097) },
    "refused: a link has a target that is too long",
  ],
  ["a wrong CRC", { crc32: 1 }, "refused: the CRC of an entry is wrong"],
])("a zip with %s: %#", async (_what, zip, told) => {
  const bytes = Buffer.isBuffer(zip) ? zip : one(zip);
  expect(await read("zip", bytes)).toBe(told);
});

const xz = Buffer.from("\xfd7zXZ\0", "latin1");
const otherKind = "refused: it is not of the kind that its name says";

it.each<[string, ArchiveFormat, Buffer, string]>([
  ["an xz archive", "tar.xz", Buffer.concat([xz, Buffer.of(1)]), ""],
  ["a bzip2 archive", "tar.bz2", Buffer.from("BZh9"), ""],
  ["a bzip2 archive", "tar.xz", Buffer.from("BZh91AY"), otherKind],
  ["an xz archive", "tar.bz2", xz, otherKind],
  ["half a beginning", "tar.xz", xz.subarray(0, 3), otherKind],
  ["nothing", "tar.bz2", nothing, otherKind],
  ["a zip", "tar.gz", one({}), otherKind],
  [
    "a tar",
    "zip",
    good,
    "refused: End of central directory record signature not found. Either not a zip file, or file is truncated.",
  ],
])("%s as %s: %#", async (_what, format, bytes, told) => {
  expect(await read(format, bytes)).toBe(told);
});

describe("all of an archive is bounded", () => {
  const many = <T>(count: number, make: (at: number) => readonly T[]) =>
    Array.from({ length: count }, (_, at) => make(at)).flat();
  const named = (at: number) => `${at}${"x".repeat(4000)}`;
  const tooLong = "refused: its names are too long or too deep together";

  it.each<[string, ArchiveFormat, Buffer, string]>([
    [
      "its members",
      "tar.gz",
      tarGzBytes(many(1001, (at) => [{ name: `${at}` }])),
      "refused: it has more than 1000 members",
    ],
    [
      "its global headers",
      "tar.gz",
      tarGzBytes([...many(70, () => [pax({ a: "b" }, "g")]), main]),
      "refused: a member has too many attributes",
    ],
    [
      "an attribute",
      "tar.gz",
      tarGzBytes([pax({ path: "x".repeat(70_000) }), main]),
      "refused: a member has too many attributes",
    ],
    [
      "the text of its names",
      "tar.gz",
      tarGzBytes(many(150, (at) => [long(named(at)), main])),
      tooLong,
    ],
    [
      "the parts of its links",
      "tar.gz",
      tarGzBytes(
        many(200, (at) => [
          long(`${at}/${"a/".repeat(200)}b`),
          { ...empty, type: "2", link: "x" },
        ]),
      ),
      tooLong,
    ],
    [
      "the names of a zip",
      "zip",
      zipBytes(many(150, (at) => [{ name: named(at), content: "" }])),
      tooLong,
    ],
  ])("%s", async (_what, format, bytes, told) => {
    expect(await read(format, bytes)).toBe(told);
  });
});

it("ends with the fault of who visits", async () => {
  const visited = withArchive(tarGzBytes([main, empty]), (archive) =>
    readMembers("tar.gz", archive, limits, ({ name }) => {
      throw new Error(`not ${name}`);
    }),
  );
  await expect(visited).rejects.toThrow("not main.tf");
});

it("a disk that fails is not the archive's fault", async () => {
  await withArchive(good, async ({ fd, size }) => {
    const archive = { fd, size: size + 1000 };
    const verified = answer({ archive, limits, format: "tar.gz" });
    await expect(verified).rejects.toMatchObject({ code: "EIO" });
  });
});
