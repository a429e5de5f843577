import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import type { ArchiveFormat } from "../../../src/address/module-archive-name.ts";
import { failing } from "../../scenes/failing.ts";
import {
  readMembers,
  verifyModuleArchive,
} from "../../../src/verification/archives/module-archive.ts";
import { main } from "./sound-tars.ts";
import { limits, withArchive } from "./own-reading.ts";
import { tarBytes, tarGzBytes } from "./tar-bytes.ts";
import { zipBytes } from "./zip-bytes.ts";

const xz = Buffer.from("\xfd7zXZ\0", "latin1");
const zip = zipBytes([{ name: "main.tf", content: "# main\n" }]);
const mebibytes = (count: number) => Buffer.alloc(count << 20);
const otherKind = "it is not of the kind that its name says";
const outside = tarGzBytes([{ name: "../main.tf" }]);

const behind = (text: string) =>
  Buffer.concat([tarGzBytes([main]), Buffer.from(text, "latin1")]);

it.each<[string, ArchiveFormat, Buffer, string | readonly string[]]>([
  ["a tar", "tar.gz", tarGzBytes([main]), ["main.tf"]],
  ["a zip", "zip", zip, ["main.tf"]],
  ["an xz archive", "tar.xz", Buffer.concat([xz, Buffer.of(1)]), []],
  ["a bzip2 archive", "tar.bz2", Buffer.from("BZh9"), []],
  ["a bzip2 archive for xz", "tar.xz", Buffer.from("BZh91AY"), otherKind],
  ["an xz archive for bzip2", "tar.bz2", xz, otherKind],
  ["half a beginning", "tar.xz", xz.subarray(0, 3), otherKind],
  ["nothing", "tar.bz2", Buffer.of(), otherKind],
  ["a zip for a tar", "tar.gz", zip, otherKind],
  ["a tar for a zip", "zip", tarGzBytes([main]), "signature not found"],
  ["no members", "tar.gz", tarGzBytes([]), "it is empty"],
  ["no entries", "zip", zipBytes([]), "it is empty"],
  ["a name outside", "tar.gz", outside, 'a member is named "../main.tf"'],
  ["a text behind its end", "tar.gz", behind("<!-- a -->\n"), "incorrect"],
  ["zeros behind its end", "tar.gz", behind("\0".repeat(1000)), ["main.tf"]],
  [
    "two members",
    "tar.gz",
    Buffer.concat([
      gzipSync(tarBytes([main]).subarray(0, 700)),
      gzipSync(tarBytes([main]).subarray(700)),
    ]),
    ["main.tf"],
  ],
  [
    "a second member that leads outside",
    "tar.gz",
    Buffer.concat([gzipSync(tarBytes([main], Buffer.of())), outside]),
    'a member is named "../main.tf"',
  ],
  [
    "a second member that is cut",
    "tar.gz",
    Buffer.concat([tarGzBytes([main]), outside.subarray(0, -1)]),
    "unexpected end of file",
  ],
  [
    "zeros behind the tar",
    "tar.gz",
    gzipSync(Buffer.concat([tarBytes([main]), Buffer.alloc(20480)])),
    ["main.tf"],
  ],
  ["a name twice", "tar.gz", tarGzBytes([main, main]), ["main.tf", "main.tf"]],
  [
    "only what does no harm",
    "tar.gz",
    gzipSync(tarBytes([{ name: "a", content: mebibytes(1) }], Buffer.of())),
    ["a"],
  ],
  [
    "200 times its size",
    "tar.gz",
    tarGzBytes([{ name: "a", content: mebibytes(4) }]),
    "it expands to more than 200 times its size",
  ],
])(
  "an archive with %s, as %s, is looked through",
  async (_what, format, bytes, expected) => {
    const listed = withArchive(bytes, (archive) =>
      readMembers(format, archive, limits),
    );
    if (typeof expected === "string")
      await expect(listed).rejects.toThrow(expected);
    else expect((await listed).map(({ name }) => name)).toEqual(expected);
  },
);

it("a module's archive is refused with the archive's reason, or not at all", async () => {
  const verify = (bytes: Buffer) =>
    withArchive(bytes, (archive) =>
      verifyModuleArchive("a module", "tar.gz", archive, limits),
    );
  await verify(tarGzBytes([main]));
  const refusal = await verify(outside).catch((error: unknown) => error);
  expect(refusal).toEqual(failing("module-archive-refused"));
  expect(refusal).toMatchObject({
    reason: 'a member is named "../main.tf"',
  });
});

it("a disk that fails is not the archive's fault", async () => {
  await withArchive(tarGzBytes([main]), async ({ fd, size }) => {
    const longer = { fd, size: size + 1000 };
    const verified = verifyModuleArchive("a module", "tar.gz", longer, limits);
    await expect(verified).rejects.toMatchObject({ code: "EIO" });
  });
});
