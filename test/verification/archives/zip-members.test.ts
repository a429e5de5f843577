import { expect, it } from "vitest";
import { readOurselves } from "./own-reading.ts";
import { zipBytes, type ZipPart } from "./zip-bytes.ts";

const read = (zip: Buffer) => readOurselves("zip", zip);

const main: ZipPart = {
  name: "main.tf",
  content: "# main\n",
  deflate: true,
  attributes: 0o100644 * 0x10000,
};
const one = (lie: Partial<ZipPart>) => zipBytes([{ ...main, ...lie }]);

const file = { name: "main.tf", kind: "file" };
const folder = { ...file, kind: "directory" };

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
    { ...file, kind: "symbolic link", target: "README" },
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
