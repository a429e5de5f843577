import { long, pax, tarGzBytes, type TarPart } from "./tar-bytes.ts";

export const main: TarPart = { name: "main.tf", content: "# main\n" };
export const directory = (more: Partial<TarPart>): TarPart => ({
  name: "modules/",
  type: "5",
  ...more,
});
const gnu = "ustar  \0";

/** Archives as common writers make them; each must be accepted and read as by Go. */
export const soundTars: Readonly<Record<string, Buffer>> = {
  "a POSIX tar": tarGzBytes([directory({}), main]),
  "an old tar": tarGzBytes([
    { ...main, magic: "", at: [[257, "\0".repeat(255)]] },
    { name: "old/", type: "\0", magic: "" },
  ]),
  "a GNU tar with long names": tarGzBytes([
    long(`${"l".repeat(150)}.tf`),
    { ...main, magic: gnu },
    long("target".repeat(30), "K"),
    long(`${"k".repeat(150)}.tf`),
    { name: "link", type: "2", link: "x", magic: gnu },
  ]),
  "a pax tar of git": tarGzBytes([
    pax({ comment: "0123456789abcdef" }, "g"),
    directory({ name: "module-1.0/" }),
    pax({ path: `module-1.0/${"p".repeat(200)}.tf` }),
    main,
  ]),
  "a pax tar with times and attributes": tarGzBytes([
    pax({
      mtime: "1700000000.123456789",
      atime: "-1.5",
      uid: "3000000",
      uname: "é",
      "LIBARCHIVE.creationtime": "1",
      "SCHILY.xattr.user.x": "a=b\n",
    }),
    main,
  ]),
  "a name with a prefix": tarGzBytes([{ ...main, prefix: "module-1.0/a" }]),
  "a name that is cut inside a letter": tarGzBytes([
    pax({ path: `${"a".repeat(99)}é.tf` }),
    { ...main, name: Buffer.concat([Buffer.alloc(99, "a"), Buffer.of(0xc3)]) },
  ]),
  "numbers with spaces": tarGzBytes([
    { ...main, size: "         7 \0", mode: "   644 \0" },
  ]),
  "a large owner": tarGzBytes([
    { ...main, at: [[108, "\x80\0\0\0\0\x2d\xc6\xc0"]] },
  ]),
  "a time before 1970": tarGzBytes([
    { ...main, at: [[136, "\xff".repeat(11) + "\xf0"]] },
  ]),
  "directories named again": tarGzBytes([
    directory({}),
    directory({ name: "./modules" }),
    { ...main, name: "Modules/main.tf" },
  ]),
  "the folder itself": tarGzBytes([directory({ name: "./" }), main]),
  "modes with their types": tarGzBytes([
    directory({ mode: "0040755\0" }),
    { ...main, mode: "0100644\0" },
  ]),
  "no end": tarGzBytes([main], Buffer.alloc(0)),
  "one block of zeros": tarGzBytes([main], Buffer.alloc(512)),
  "ten kilobytes of zeros": tarGzBytes([main], Buffer.alloc(10_240)),
  "links inside": tarGzBytes([
    main,
    { name: "a/link", type: "2", link: "../main.tf" },
    { name: "hard", type: "1", link: "main.tf" },
  ]),
  "a name in two cases": tarGzBytes([main, { ...main, name: "MAIN.tf" }]),
  "zeros after gzip's end": Buffer.concat([
    tarGzBytes([main]),
    Buffer.alloc(600),
  ]),
  "an empty file": tarGzBytes([{ name: "empty" }]),
};
