import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { readOurselves } from "./own-reading.ts";
import { directory, main } from "./sound-tars.ts";
import { end, pax, tarBytes, type TarPart } from "./tar-bytes.ts";

/** The members of a tar, or of what is given in place of its gzip. */
const read = (tar: Buffer, archive: Buffer = gzipSync(tar)) =>
  readOurselves("tar.gz", archive);

const empty: TarPart = { name: "a" };
const link: TarPart = { name: "l", type: "2", link: "a" };
const file = { name: "a", kind: "file", target: undefined };
const nothing = Buffer.of();
const large = "x".repeat(100_000);

it.each<[string, Buffer, readonly object[]]>([
  [
    "two files",
    tarBytes([main, { ...empty, content: large }]),
    [{ ...file, name: "main.tf" }, file],
  ],
  ["no end", tarBytes([empty], nothing), [file]],
  ["a contiguous file", tarBytes([{ ...empty, type: "7" }]), [file]],
  [
    "a directory",
    tarBytes([directory({})]),
    [{ ...file, name: "modules/", kind: "directory" }],
  ],
  [
    "an old directory",
    tarBytes([directory({ type: "\0", magic: "" })]),
    [{ ...file, name: "modules/", kind: "directory" }],
  ],
  [
    "links",
    tarBytes([link, { ...link, type: "1" }]),
    [
      { ...file, name: "l", kind: "symbolic link", target: "a" },
      { ...file, name: "l", kind: "hard link", target: "a" },
    ],
  ],
  [
    "members after an end",
    tarBytes([empty, end, main]),
    [file, { ...file, name: "main.tf" }],
  ],
])("a tar with %s is read", async (_what, tar, members) => {
  expect(await read(tar)).toStrictEqual(members);
});

it.each<[string, Buffer, string]>([
  ["a cut header", tarBytes([main], Buffer.alloc(300)), "Unexpected end"],
  ["cut content", tarBytes([main], nothing).subarray(0, -1), "Unexpected end"],
  [
    "a directory with content",
    tarBytes([directory({ content: "x" })]),
    "a directory has content",
  ],
  [
    "a hard link with content",
    tarBytes([{ ...link, type: "1", content: "x" }]),
    "a hard link has content",
  ],
  [
    "attributes of a sparse file",
    tarBytes([pax({ "GNU.sparse.realsize": "9".repeat(18) }), empty]),
    "it has a sparse file",
  ],
  [
    "too many attributes",
    tarBytes([pax({ comment: "c".repeat(65_536) }), empty]),
    "a member has too many attributes",
  ],
  ...(
    [
      ["3", "a character-device"],
      ["4", "a block-device"],
      ["6", "a fifo"],
      ["S", "a member of an unknown type"],
      ["X", "a member of an unknown type"],
    ] as const
  ).map(([type, what]): [string, Buffer, string] => [
    `the type ${type}`,
    tarBytes([{ ...empty, type }]),
    `it has ${what}`,
  ]),
])("a tar with %s is refused", async (_what, tar, reason) => {
  await expect(read(tar)).rejects.toThrow(reason);
});

it.each<[string, (archive: Buffer) => Buffer, string]>([
  ["is cut", (archive) => archive.subarray(0, -9), "unexpected end of file"],
  [
    "has a wrong checksum",
    (archive) => Buffer.concat([archive.subarray(0, -8), Buffer.alloc(8)]),
    "incorrect data check",
  ],
])("a gzip that %s is refused", async (_what, damage, reason) => {
  const archive = damage(gzipSync(tarBytes([main])));
  await expect(read(nothing, archive)).rejects.toThrow(reason);
});
