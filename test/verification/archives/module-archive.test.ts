import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import type { ArchiveFormat } from "../../../src/address/module-archive-name.ts";
import answer from "../../../src/verification/archives/archive-worker.ts";
import { readMembers } from "../../../src/verification/archives/module-archive.ts";
import { tarEntry, type TarPart } from "../../fakes/module-archive.ts";
import { limits, withArchive } from "./own-reading.ts";
import { zipBytes, type ZipPart } from "./zip-bytes.ts";

const tarBytes = (parts: readonly TarPart[]) =>
  Buffer.concat([...parts.map(tarEntry), Buffer.alloc(1024)]);
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

const main: TarPart = { name: "main.tf", content: "# main\n" };
const a: TarPart = { name: "a" };
const folder: TarPart = { name: "modules/", type: "5" };
/** What `main` is read as. */
const plain = "file main.tf # main";
const good = tarGz([main]);
const long = "x".repeat(1e5);
const links: readonly TarPart[] = [
  { name: "a/link", type: "2", link: "../main.tf" },
  { name: "hard", type: "1", link: "main.tf" },
];
const old: readonly TarPart[] = [
  { ...main, magic: "" },
  { ...folder, type: "\0", magic: "" },
];

it.each<[string, readonly TarPart[], string]>([
  ["a long file", [{ ...a, content: long }], "file a 100000 octets"],
  ["a contiguous file", [{ ...main, type: "7" }], plain],
  ["a directory", [main, folder], `${plain}, directory modules/`],
  ["an old form", old, `${plain}, directory modules/`],
  [
    "links inside",
    links,
    "symbolic link a/link -> ../main.tf, hard link hard -> main.tf",
  ],
])("a tar with %s is read: %#", async (_what, parts, told) => {
  expect(await read("tar.gz", tarGz(parts))).toBe(told);
});

/** With an extra field, a name, a comment and a checksum of the header. */
const withHeader = Buffer.concat([
  Buffer.from([0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3, 3, 0]),
  Buffer.from("abcname\0comment\0##", "latin1"),
  good.subarray(10),
]);
const behind = (text: string) =>
  Buffer.concat([good, Buffer.from(text, "latin1")]);
const halves = [tarBytes([main]).subarray(0, 700), tarBytes([main])];
const members = halves.map((half, at) => gzipSync(half.subarray(at * 700)));
const zeros = (mebibytes: number) =>
  tarGz([{ ...a, content: Buffer.alloc(mebibytes << 20) }]);

it.each<[string, Buffer, string?]>([
  ["names in its header", withHeader],
  ["bytes behind its end", behind("\0\0more")],
  ["the start of another behind", behind("\x1f\x8b\x08x")],
  ["much behind its end", behind("x".repeat(3 << 20))],
  ["two members", Buffer.concat(members)],
  ["emptiness that does no harm", zeros(1), "file a 1048576 octets"],
])("a gzip with %s is read: %#", async (_what, gzip, told = plain) => {
  expect(await read("tar.gz", gzip)).toBe(told);
});

const deep = (at: number) => `${at}/${"a/".repeat(200)}b`;
const many = (count: number, make: (at: number) => TarPart) =>
  Array.from({ length: count }, (_, at) => make(at));

it.each<[string, Buffer]>([
  ["it is empty", tarGz([])],
  ['a member is named "../a"', tarGz([{ name: "../a" }])],
  ["a directory has content", tarGz([{ ...folder, content: "x" }])],
  ["it has a sparse file", tarGz([pax("GNU.sparse.size", "9"), a])],
  ["it has a character-device", tarGz([{ ...a, type: "3" }])],
  [
    "it has more than 1000 members",
    tarGz(many(1001, (at) => ({ name: `${at}` }))),
  ],
  ["a member has too many attributes", tarGz([pax("path", long), main])],
  [
    "a member has too many attributes",
    tarGz([...many(70, () => pax("a", "b", "g")), main]),
  ],
  [
    "its names are too long or too deep together",
    tarGz(many(300, (at) => (at % 2 ? main : pax("path", long.slice(-4000))))),
  ],
  [
    "its names are too long or too deep together",
    tarGz(
      many(400, (at) =>
        at % 2 ? { ...a, type: "2", link: "x" } : pax("path", deep(at)),
      ),
    ),
  ],
  ["unexpected end of file", Buffer.concat([good, good.subarray(0, -1)])],
  ["Unexpected end of data", gzipSync(tarBytes([main]).subarray(0, 1023))],
  [
    "incorrect data check",
    Buffer.concat([good.subarray(0, -8), Buffer.alloc(8)]),
  ],
  ["it expands to more than 200 times its size", zeros(4)],
  ["it is not of the kind that its name says", Buffer.from("PK\x03\x04")],
])("a tar.gz is refused, since %s: %#", async (reason, bytes) => {
  expect(await read("tar.gz", bytes)).toBe(`refused: ${reason}`);
});

const zipped: ZipPart = {
  ...{ name: "main.tf", content: "# main\n", deflate: true },
  attributes: 0o100644 * 0x10000,
};
const empty = { content: "", deflate: false };
const link = { attributes: 0xa1ff0000 };
const byTheLongestWay = `${"./".repeat(2044)}main.tf`;

// What else is refused of a zip is in package-hash.test.ts.
it.each<[Partial<ZipPart>, string]>([
  [{}, plain],
  [{ ...empty, attributes: 0x10 }, "directory main.tf"],
  [{ ...empty, name: "a/", attributes: 0 }, "directory a/"],
  [
    { ...link, content: byTheLongestWay },
    `symbolic link main.tf -> ${byTheLongestWay}`,
  ],
  [{ attributes: 0x21a40000 }, "refused: it has a device or a pipe"],
  [
    { ...link, content: "x".repeat(4097) },
    "refused: a link has a target that is too long",
  ],
])("a zip's entry is what its attributes say: %#", async (part, told) => {
  expect(await read("zip", zipBytes([{ ...zipped, ...part }]))).toBe(told);
});

it.each<[ArchiveFormat, string, boolean]>([
  ["tar.xz", "\xfd7zXZ\0\x01", true],
  ["tar.xz", "\xfd7z", false],
  ["tar.bz2", "BZh9", true],
  ["tar.bz2", "\xfd7zXZ\0\x01", false],
])("a %s that begins with %j is taken: %s", async (format, text, isTaken) => {
  const other = "refused: it is not of the kind that its name says";
  const told = await read(format, Buffer.from(text, "latin1"));
  expect(told).toBe(isTaken ? "" : other);
});

it("a disk that fails is not the archive's fault", async () => {
  await withArchive(good, async ({ fd, size }) => {
    const archive = { fd, size: size + 1000 };
    const verified = answer({ archive, limits, format: "tar.gz" });
    await expect(verified).rejects.toMatchObject({ code: "EIO" });
  });
});
