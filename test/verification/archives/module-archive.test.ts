import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import type { ArchiveFormat } from "../../../src/address/module-archive-name.ts";
import answer from "../../../src/verification/archives/archive-worker.ts";
import { readMembers } from "../../../src/verification/archives/module-archive.ts";
import { limits, withArchive } from "./own-reading.ts";
import { zipBytes, type ZipPart } from "./zip-bytes.ts";

/** A header and its content; every field but the name may lie. */
interface TarPart {
  readonly name: string;
  readonly content?: string | Buffer;
  readonly type?: string;
  readonly link?: string;
  /** `ustar\0` and `00` by default. */
  readonly magic?: string;
}

/** A tar made block by block, so that hostile shapes can be made too. */
function tarBytes(parts: readonly TarPart[]): Buffer {
  const blocks = parts.flatMap((part) => {
    const content = Buffer.from(part.content ?? "");
    const header = Buffer.alloc(512);
    header.write(part.name, 0, 100);
    header.write("0000644\0", 100);
    header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write(part.type ?? "0", 156);
    header.write(part.link ?? "", 157, 100);
    header.write(part.magic ?? "ustar\x0000", 257);
    const sum = header.fill(" ", 148, 156).reduce((all, byte) => all + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [header, content, Buffer.alloc(-content.length & 511)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

const tarGz = (parts: readonly TarPart[]) => gzipSync(tarBytes(parts));

/** A pax header with one record; `g` for all members. */
function pax(key: string, value: string, type: "x" | "g" = "x"): TarPart {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length + 1;
  while (rest.length + String(length).length !== length) length++;
  return { name: "pax", type, content: `${length}${rest}` };
}

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

const many = <T>(count: number, make: (at: number) => readonly T[]) =>
  Array.from({ length: count }, (_, at) => make(at)).flat();
const main: TarPart = { name: "main.tf", content: "# main\n" };
const a: TarPart = { name: "a" };
const folder: TarPart = { name: "modules/", type: "5" };
/** What `main` is read as. */
const plain = "file main.tf # main";
const tooLong = "refused: its names are too long together";
const tooMany = "refused: a member has too many attributes";

it.each<[string, readonly TarPart[], string]>([
  ["no members", [], "refused: it is empty"],
  [
    "two files",
    [main, { ...a, content: "x".repeat(1e5) }],
    `${plain}, file a 100000 octets`,
  ],
  ["a contiguous file", [{ ...main, type: "7" }], plain],
  ["a directory", [folder], "directory modules/"],
  [
    "an old form",
    [
      { ...main, magic: "" },
      { ...folder, type: "\0", magic: "" },
    ],
    `${plain}, directory modules/`,
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
    "content of a directory",
    [{ ...folder, content: "x" }],
    "refused: a directory has content",
  ],
  [
    "attributes of a sparse file",
    [pax("GNU.sparse.realsize", "9".repeat(18)), a],
    "refused: it has a sparse file",
  ],
  ["a device", [{ ...a, type: "3" }], "refused: it has a character-device"],
  [
    "too many members",
    many(1001, (at) => [{ name: `${at}` }]),
    "refused: it has more than 1000 members",
  ],
  ["a long attribute", [pax("path", "x".repeat(70_000)), main], tooMany],
  [
    "many global headers",
    [...many(70, () => [pax("a", "b", "g")]), main],
    tooMany,
  ],
  [
    "long names",
    many(150, (at) => [pax("path", `${at}${"x".repeat(4000)}`), main]),
    tooLong,
  ],
])("a tar with %s: %#", async (_what, parts, told) => {
  expect(await read("tar.gz", tarGz(parts))).toBe(told);
});

/** With an extra field, a name, a comment and a checksum of the header. */
const withHeader = (gzip: Buffer) =>
  Buffer.concat([
    Buffer.from([0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3, 3, 0]),
    Buffer.from("abcname\0comment\0##", "latin1"),
    gzip.subarray(10),
  ]);
const good = tarGz([main]);
const behind = (text: string) =>
  Buffer.concat([good, Buffer.from(text, "latin1")]);
const halves = [tarBytes([main]).subarray(0, 700), tarBytes([main])];
const zeros = (mebibytes: number) =>
  gzipSync(tarBytes([{ ...a, content: Buffer.alloc(mebibytes << 20) }]));

it.each<[string, Buffer, string]>([
  ["names in its header", withHeader(good), plain],
  ["bytes behind its end", behind("\0\0more"), plain],
  ["the start of another behind", behind("\x1f\x8b\x08x"), plain],
  ["much behind its end", behind("x".repeat(3 << 20)), plain],
  [
    "two members",
    Buffer.concat(halves.map((half, at) => gzipSync(half.subarray(at * 700)))),
    plain,
  ],
  [
    "a second member that is cut",
    Buffer.concat([good, good.subarray(0, -1)]),
    "refused: unexpected end of file",
  ],
  [
    "its tar cut",
    gzipSync(tarBytes([main]).subarray(0, 1023)),
    "refused: Unexpected end of data",
  ],
  [
    "a wrong checksum",
    Buffer.concat([good.subarray(0, -8), Buffer.alloc(8)]),
    "refused: incorrect data check",
  ],
  ["what does no harm", zeros(1), "file a 1048576 octets"],
  [
    "200 times its size",
    zeros(4),
    "refused: it expands to more than 200 times its size",
  ],
])("a gzip with %s: %#", async (_what, gzip, told) => {
  expect(await read("tar.gz", gzip)).toBe(told);
});

const zipped: ZipPart = {
  ...{ name: "main.tf", content: "# main\n", deflate: true },
  attributes: 0o100644 * 0x10000,
};
const empty = { content: "", deflate: false };
const link = { attributes: 0xa1ff0000 };
const byTheLongestWay = `${"./".repeat(2044)}main.tf`;

// What else is refused of a zip is in package-hash.test.ts.
it.each<[string, Partial<ZipPart>, string]>([
  ["a file", {}, plain],
  ["a folder of DOS", { ...empty, attributes: 0x10 }, "directory main.tf"],
  [
    "a folder by its name",
    { ...empty, name: "a/", attributes: 0 },
    "directory a/",
  ],
  [
    "a link inside",
    { ...link, content: byTheLongestWay },
    `symbolic link main.tf -> ${byTheLongestWay}`,
  ],
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
])("a zip with %s: %#", async (_what, part, told) => {
  expect(await read("zip", zipBytes([{ ...zipped, ...part }]))).toBe(told);
});

const otherKind = "refused: it is not of the kind that its name says";

it.each<[ArchiveFormat, string, string]>([
  ["tar.xz", "\xfd7zXZ\0\x01", ""],
  ["tar.xz", "\xfd7z", otherKind],
  ["tar.bz2", "BZh9", ""],
  ["tar.bz2", "\xfd7zXZ\0\x01", otherKind],
  ["tar.gz", "PK\x03\x04", otherKind],
])("a %s that begins with %j", async (format, text, told) => {
  expect(await read(format, Buffer.from(text, "latin1"))).toBe(told);
});

it("a disk that fails is not the archive's fault", async () => {
  await withArchive(good, async ({ fd, size }) => {
    const archive = { fd, size: size + 1000 };
    const verified = answer({ archive, limits, format: "tar.gz" });
    await expect(verified).rejects.toMatchObject({ code: "EIO" });
  });
});
