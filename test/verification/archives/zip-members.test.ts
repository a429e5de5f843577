import { expect, it } from "vitest";
import type { ArchiveMember } from "../../../src/verification/archives/members.ts";
import { readZipMembers } from "../../../src/verification/archives/module-archive.ts";
import { limits, withArchive } from "./own-reading.ts";
import { one } from "./sound-zips.ts";

function read(zip: Buffer) {
  return withArchive(zip, async (archive) => {
    const found: (ArchiveMember & { content: string })[] = [];
    await readZipMembers(archive, limits, (member) => {
      const one = { ...member, content: "" };
      found.push(one);
      return (piece) => (one.content += piece.toString());
    });
    return found;
  });
}

const file = { name: "main.tf", kind: "file", content: "# main\n" };
const folder = { ...file, kind: "directory", content: "" };

it.each<[string, Buffer, object]>([
  ["a file", one({}), file],
  ["another name before its content", one({ local: { name: "other" } }), file],
  [
    "a directory of Unix",
    one({ attributes: 0x41ed0000, content: "", deflate: false }),
    folder,
  ],
  [
    "a directory of DOS",
    one({ attributes: 0x10, content: "", deflate: false }),
    folder,
  ],
  [
    "a directory by its name",
    one({ name: "a/", attributes: 0, content: "", deflate: false }),
    { ...folder, name: "a/" },
  ],
  [
    "a link",
    one({ attributes: 0xa1ff0000, content: "README" }),
    { ...file, kind: "symbolic link", target: "README", content: "" },
  ],
])("a zip with %s is read", async (_what, zip, member) => {
  expect(await read(zip)).toEqual([member]);
});

it.each<[string, Buffer, string]>([
  ["a device", one({ attributes: 0x21a40000 }), "it has a device or a pipe"],
  [
    "a link with a long target",
    one({ attributes: 0xa1ff0000, content: "x".repeat(4097) }),
    "a link has a target that is too long",
  ],
  ["a wrong CRC", one({ crc32: 1 }), "the CRC of an entry is wrong"],
])("a zip with %s is refused", async (_what, zip, reason) => {
  await expect(read(zip)).rejects.toThrow(reason);
});
