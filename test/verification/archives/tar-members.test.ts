import { expect, it } from "vitest";
import { HeaderBudget } from "../../../src/verification/archives/limits.ts";
import { listTarMembers } from "../../../src/verification/archives/tar-members.ts";
import { directory, gnu, main } from "./differing-tars.ts";
import { end, long, pax, paxOf, tarBytes, type TarPart } from "./tar-bytes.ts";

const limits = { entries: 200, expandedBytes: Infinity, ratio: Infinity };

function list(tar: Buffer, entries = limits.entries) {
  const budget = new HeaderBudget({ ...limits, entries });
  const pieces = async function* () {
    for (let at = 0; at < tar.length; at += 100_000)
      yield Promise.resolve(tar.subarray(at, at + 100_000));
  };
  return Array.fromAsync(listTarMembers(pieces(), budget));
}

const file = (name: string, contentStart = 512, size = 0) => ({
  ...{ name, kind: "file", target: undefined, size, contentStart },
});
const empty: TarPart = { name: "a" };
const link: TarPart = { name: "l", type: "2", link: "a" };
const comment = pax({ comment: "c" });
const nothing = Buffer.of();
const folder = { ...file("modules/"), kind: "directory" };

it.each<[string, Buffer, readonly object[]]>([
  ["nothing at all", nothing, []],
  ["an end alone", end, []],
  ["a file", tarBytes([main]), [file("main.tf", 512, 7)]],
  [
    "two files",
    tarBytes([main, empty]),
    [file("main.tf", 512, 7), file("a", 1536)],
  ],
  [
    "a file of one whole block",
    tarBytes([{ ...empty, content: Buffer.alloc(512) }, main]),
    [file("a", 512, 512), file("main.tf", 1536, 7)],
  ],
  ["no end", tarBytes([empty], nothing), [file("a")]],
  ["half an end", tarBytes([empty], end.subarray(512)), [file("a")]],
  ["a long end", tarBytes([empty], Buffer.alloc(100_352)), [file("a")]],
  ["an old file", tarBytes([{ ...empty, type: "\0" }]), [file("a")]],
  ["a contiguous file", tarBytes([{ ...empty, type: "7" }]), [file("a")]],
  ["a directory", tarBytes([directory({})]), [folder]],
  ["an old directory", tarBytes([directory({ type: "\0" })]), [folder]],
  [
    "a directory without a slash",
    tarBytes([directory({ name: "modules" })]),
    [{ ...folder, name: "modules" }],
  ],
  [
    "a link",
    tarBytes([link]),
    [{ ...file("l"), kind: "symbolic link", target: "a" }],
  ],
  [
    "a hard link",
    tarBytes([{ ...link, type: "1" }]),
    [{ ...file("l"), kind: "hard link", target: "a" }],
  ],
  [
    "a file with a target, which says nothing",
    tarBytes([{ ...empty, link: "../b" }]),
    [file("a")],
  ],
  [
    "modes with their types",
    tarBytes([
      { ...empty, mode: "0107777\0" },
      directory({ mode: "0040755\0" }),
      { ...link, mode: "0120777\0" },
      { ...link, type: "1", mode: "0100644\0" },
    ]),
    [
      file("a"),
      { ...folder, contentStart: 1024 },
      {
        ...file("l", 1536),
        ...{ kind: "symbolic link", target: "a" },
      },
      { ...file("l", 2048), kind: "hard link", target: "a" },
    ],
  ],
  [
    "a long name of GNU",
    tarBytes([long("b"), { ...empty, magic: gnu }, empty]),
    [file("b", 1536), file("a", 2048)],
  ],
  [
    "a long link of GNU",
    tarBytes([long("b", "K"), link]),
    [{ ...file("l", 1536), kind: "symbolic link", target: "b" }],
  ],
  ...(
    [
      ["L", "K"],
      ["K", "L"],
    ] as const
  ).map((types): [string, Buffer, readonly object[]] => [
    `long names of GNU in the order ${types.join()}`,
    tarBytes([...types.map((type) => long(type, type)), link]),
    [{ ...file("L", 2560), kind: "symbolic link", target: "K" }],
  ]),
  [
    "pax attributes of one member",
    tarBytes([pax({ path: "b", size: "0" }), empty, empty]),
    [file("b", 1536), file("a", 2048)],
  ],
  [
    "comments for all members",
    tarBytes([
      pax({ comment: "c" }, "g"),
      pax({ comment: "d" }, "g"),
      comment,
      empty,
    ]),
    [file("a", 3584)],
  ],
  [
    "64 KiB of attributes",
    tarBytes([pax({ comment: "c".repeat(65_536 - 15) }), empty]),
    [file("a", 66_560)],
  ],
])("a tar with %s is listed", async (_what, tar, members) => {
  expect(await list(tar)).toStrictEqual(members);
});

const several = "a member has attributes from several headers";
const cut = "it is cut short";
const refused = (parts: readonly (TarPart | Buffer)[], after?: Buffer) =>
  tarBytes(parts, after);

it.each<[string, Buffer, string]>([
  ["a cut header", refused([empty], Buffer.alloc(300, "x")), cut],
  ["a cut header of zeros", refused([empty], Buffer.alloc(300)), cut],
  ["cut content", refused([main], nothing).subarray(0, -1), cut],
  ["no content", refused([main], nothing).subarray(0, 512), cut],
  ["cut attributes", refused([comment], nothing).subarray(0, -1), cut],
  ["no attributes", refused([comment], nothing).subarray(0, 512), cut],
  ["a cut end", refused([empty], Buffer.alloc(1023)), cut],
  [
    "something in the second block of its end",
    refused([empty], Buffer.concat([end.subarray(512), Buffer.alloc(512, 1)])),
    "it has data after its end",
  ],
  [
    "something far behind its end",
    refused([empty], Buffer.concat([Buffer.alloc(70_000), Buffer.of(1)])),
    "it has data after its end",
  ],
  [
    "attributes at its end",
    refused([empty, comment]),
    "it ends with attributes of no member",
  ],
  [
    "attributes and no end",
    refused([comment], nothing),
    "it ends with attributes of no member",
  ],
  [
    "more than 64 KiB of attributes",
    refused([pax({ comment: "c".repeat(65_536 - 14) }), empty]),
    "a member has too many attributes",
  ],
  ["two pax headers", refused([comment, comment, empty]), several],
  [
    "a pax header before one for all",
    refused([comment, pax({ comment: "c" }, "g"), empty]),
    several,
  ],
  [
    "a pax header and a long name",
    refused([comment, long("b"), empty]),
    several,
  ],
  [
    "a long name and a pax header",
    refused([long("b"), comment, empty]),
    several,
  ],
  [
    "a long name before a header for all",
    refused([long("b"), pax({ comment: "c" }, "g"), empty]),
    several,
  ],
  ["two long names", refused([long("b"), long("c"), empty]), several],
  ["two long links", refused([long("b", "K"), long("c", "K"), link]), several],
  [
    "a long name around a long link",
    refused([long("b"), long("c", "K"), long("d"), link]),
    several,
  ],
  [
    "a long link around a long name",
    refused([long("b", "K"), long("c"), long("d", "K"), link]),
    several,
  ],
  [
    "a path for all members",
    refused([pax({ path: "b" }, "g"), empty]),
    "it has a name, link or size for all its members",
  ],
  [
    "unreadable attributes",
    refused([paxOf([Buffer.from("x")]), empty]),
    "a member has unreadable attributes",
  ],
  [
    "an unreadable long name",
    refused([{ ...long("b"), content: "b\0c" }, empty]),
    "a member has unreadable attributes",
  ],
  [
    "two sizes",
    refused([pax({ size: "512" }), empty]),
    "a member has two different sizes",
  ],
  [
    "the name of a directory",
    refused([{ ...empty, name: "a/" }]),
    "a file has the name of a directory",
  ],
  [
    "a link that is named as a directory",
    refused([{ ...link, name: "a/" }]),
    "a symbolic link has the name of a directory",
  ],
  [
    "a hard link with content",
    refused([{ ...link, type: "1", content: "x" }]),
    "a hard link has content",
  ],
  [
    "a directory with content",
    refused([directory({ content: "x" })]),
    "a directory has content",
  ],
  ...(
    [
      ["file", { ...empty, mode: "0040755\0" }],
      ["directory", directory({ mode: "0100755\0" })],
      ["symbolic link", { ...link, mode: "0100777\0" }],
      ["hard link", { ...link, type: "1", mode: "0120777\0" }],
    ] as const
  ).map(([kind, part]): [string, Buffer, string] => [
    `a ${kind} of another mode`,
    refused([part]),
    `a ${kind} has the mode of something else`,
  ]),
  ...(
    [
      ["3", "a character device"],
      ["4", "a block device"],
      ["6", "a named pipe"],
      ["S", "a sparse file"],
      ["N", "a member of an unknown type"],
      ["X", "a member of an unknown type"],
    ] as const
  ).map(([type, what]): [string, Buffer, string] => [
    `the type ${type}`,
    refused([{ ...empty, type }]),
    `it has ${what}`,
  ]),
  [
    "a name that is not UTF-8",
    refused([{ name: Buffer.of(0xff) }]),
    "a name is not UTF-8",
  ],
  [
    "a link to what is not UTF-8",
    refused([{ ...link, at: [[157, "\xff"]] }]),
    "a name is not UTF-8",
  ],
])("a tar with %s is refused", async (_what, tar, reason) => {
  await expect(list(tar)).rejects.toThrow(reason);
});

it.each<[string, readonly TarPart[], string]>([
  ["members", [empty, empty], "it has more than 1 members"],
  ["headers", Array(5).fill(pax({ c: "d" }, "g")), "more than 4 headers"],
  ["text of attributes", [pax({ c: "d".repeat(512) })], "more than 512 bytes"],
  [
    "text of names",
    [
      pax({ c: "d".repeat(400) }),
      { ...link, name: "n".repeat(60), link: "t".repeat(60) },
    ],
    "more than 512 bytes",
  ],
])("of a tar with more %s than its limits allow", async (_, parts, reason) => {
  await expect(list(tarBytes(parts), 1)).rejects.toThrow(reason);
});
