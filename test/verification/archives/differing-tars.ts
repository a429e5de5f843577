import { gzipSync } from "node:zlib";
import {
  checksumOf,
  end,
  long,
  pax,
  paxOf,
  paxRecord,
  tarBytes,
  tarGzBytes,
  type TarPart,
} from "./tar-bytes.ts";

export const main: TarPart = { name: "main.tf", content: "# main\n" };
const hidden: TarPart = { name: "hidden.tf", content: "# hidden\n" };
/** A whole member that some readers find inside another's content. */
const inside = tarBytes([hidden], Buffer.alloc(0));

const octal = (value: number, digits: number) =>
  value.toString(8).padStart(digits, "0");
const signedSum = (block: Buffer) =>
  Buffer.from(block)
    .fill(" ", 148, 156)
    .reduce((sum, byte) => sum + ((byte << 24) >> 24), 0);
const binary = (value: number) => {
  const field = Buffer.alloc(12);
  field.writeUInt32BE(value, 8);
  field[0] = 0x80;
  return field;
};
export const directory = (more: Partial<TarPart>): TarPart => ({
  name: "modules/",
  type: "5",
  ...more,
});
export const gnu = "ustar  \0";

/** Archives that readers understand differently, or that one of them stumbles over: none may be accepted. */
export const differingTars: Readonly<Record<string, Buffer>> = {
  "a size with a NUL before it": tarGzBytes([
    { name: "a", size: `\0${octal(inside.length, 10)}\0` },
    inside,
    main,
  ]),
  "a size with a NUL inside": tarGzBytes([
    { name: "a", size: `0000\x00002000\0` },
    inside,
  ]),
  "a size with a space inside": tarGzBytes([
    { name: "a", size: `1000 000000\0`, content: inside },
  ]),
  "a size in binary": tarGzBytes([
    { name: "a", size: binary(inside.length), content: inside },
  ]),
  "a negative size in binary": tarGzBytes([
    { name: "a", size: Buffer.alloc(12, 0xff) },
    main,
  ]),
  "a size with a sign": tarGzBytes([
    { name: "a", size: "-0000002000\0" },
    main,
  ]),
  "a size in decimal digits": tarGzBytes([
    { name: "a", size: "00000000008\0", content: "12345678" },
  ]),
  "a checksum of signed bytes": tarGzBytes([
    {
      name: "é",
      content: "x",
      checksum: (block) => `${octal(signedSum(block), 6)}\0 `,
    },
  ]),
  "a checksum with a NUL before it": tarGzBytes([
    { name: "a", checksum: (block) => `\0${octal(checksumOf(block), 6)}\0` },
  ]),
  "an owner that is no number": tarGzBytes([{ ...main, at: [[108, "root"]] }]),
  "an owner beyond 64 bits": tarGzBytes([
    { ...main, at: [[136, "\x81\xff\xff\xff"]] },
  ]),
  "a GNU name and a pax path": tarGzBytes([
    long("long.tf"),
    pax({ path: "pax.tf" }),
    main,
  ]),
  "a pax path and a GNU name": tarGzBytes([
    pax({ path: "pax.tf" }),
    long("long.tf"),
    main,
  ]),
  "two GNU names": tarGzBytes([long("one.tf"), long("two.tf"), main]),
  "two GNU links": tarGzBytes([
    long("one", "K"),
    long("two", "K"),
    { name: "link", type: "2", link: "a" },
  ]),
  "a GNU name with something after its end": tarGzBytes([
    { ...long("one"), content: "one.tf\0two.tf\0" },
    main,
  ]),
  "an empty GNU name": tarGzBytes([{ ...long(""), content: "\0" }, main]),
  "two pax headers": tarGzBytes([
    pax({ path: "pax.tf" }),
    pax({ comment: "second" }),
    main,
  ]),
  "two pax headers of one size": tarGzBytes([
    pax({ size: "512" }),
    pax({ path: "pax.tf" }),
    { ...hidden, content: inside },
  ]),
  "a pax header before a global one": tarGzBytes([
    pax({ path: "pax.tf" }),
    pax({ comment: "commit" }, "g"),
    main,
  ]),
  "a global path": tarGzBytes([pax({ path: "all.tf" }, "g"), main]),
  "a global size": tarGzBytes([pax({ size: "512" }, "g"), main, hidden]),
  "a global link": tarGzBytes([
    pax({ linkpath: "../../x" }, "g"),
    { name: "link", type: "2", link: "main.tf" },
    main,
  ]),
  "a pax size unlike the header's": tarGzBytes([
    pax({ size: String(inside.length) }),
    { name: "a", content: "" },
    inside,
    main,
  ]),
  "a pax size that is none": tarGzBytes([pax({ size: "0x200" }), main]),
  "an empty pax path": tarGzBytes([pax({ path: "" }), main]),
  "two pax paths in one header": tarGzBytes([
    paxOf([paxRecord("path", "one.tf"), paxRecord("path", "two.tf")]),
    main,
  ]),
  "a pax path with a NUL": tarGzBytes([pax({ path: "a\0b" }), main]),
  "a pax record with a wrong length": tarGzBytes([
    paxOf([Buffer.from("99 path=a.tf\n")]),
    main,
  ]),
  "a pax record without an end": tarGzBytes([
    paxOf([Buffer.from("12 path=a.tf")]),
    main,
  ]),
  "a pax time that is none": tarGzBytes([pax({ mtime: "now" }), main]),
  "a pax character set": tarGzBytes([
    pax({ hdrcharset: "BINARY", path: "a.tf" }),
    main,
  ]),
  "a pax sparse file": tarGzBytes([
    pax({
      "GNU.sparse.major": "0",
      "GNU.sparse.minor": "1",
      "GNU.sparse.name": "sparse.tf",
      "GNU.sparse.map": "0,7",
      "GNU.sparse.size": "4096",
    }),
    main,
  ]),
  "a GNU sparse file": tarGzBytes([{ ...main, type: "S", magic: gnu }]),
  "a type that star names": tarGzBytes([pax({ "SCHILY.filetype": "d" }), main]),
  "attributes of no member": tarGzBytes([main, pax({ path: "a.tf" })]),
  "a prefix in a GNU header": tarGzBytes([
    { ...main, magic: gnu, prefix: "modules" },
  ]),
  "a star header": tarGzBytes([
    { ...main, prefix: "m".repeat(140), at: [[508, "tar\0"]] },
  ]),
  "a header of an unknown version": tarGzBytes([
    { ...main, magic: "ustar\x0099", prefix: "modules" },
  ]),
  "a header of an unknown format": tarGzBytes([
    { ...main, magic: "ustar 00", prefix: "modules" },
  ]),
  "a file with the mode of a directory": tarGzBytes([
    { ...main, mode: "0040755\0" },
    { name: "b", content: "x" },
  ]),
  "a file with the mode of a link": tarGzBytes([
    { ...main, mode: "0120777\0" },
  ]),
  "a directory with content": tarGzBytes([directory({ content: inside })]),
  "a file that is named as a directory": tarGzBytes([
    { ...main, name: "main/" },
  ]),
  "an old directory with content": tarGzBytes([
    directory({ type: "\0", content: inside }),
  ]),
  "a link with content": tarGzBytes([
    main,
    { name: "link", type: "2", link: "main.tf", content: inside },
  ]),
  "a hard link with content": tarGzBytes([
    main,
    { name: "link", type: "1", link: "main.tf", content: inside },
  ]),
  "a member of an unknown type": tarGzBytes([main, { ...hidden, type: "N" }]),
  "a name twice": tarGzBytes([main, { ...main, content: "# other\n" }]),
  "a name in two cases": tarGzBytes([main, { ...main, name: "MAIN.tf" }]),
  "a name with two forms of an accent": tarGzBytes([
    { name: "\u00e9.tf" },
    { name: "e\u0301.tf" },
  ]),
  "a name twice by way of a dot": tarGzBytes([
    main,
    { ...main, name: "./main.tf" },
  ]),
  "a name twice where Windows cuts": tarGzBytes([
    main,
    { ...main, name: "main.tf. " },
  ]),
  "a file and a directory of one name": tarGzBytes([
    main,
    { name: "main.tf/a.tf" },
  ]),
  "a directory and a file of one name": tarGzBytes([
    { name: "main.tf/a.tf" },
    main,
  ]),
  "a name that is not UTF-8": tarGzBytes([
    { name: Buffer.from("\xff.tf", "latin1") },
  ]),
  "data after the end": tarGzBytes([main], Buffer.concat([end, inside, end])),
  "data after one block of zeros": tarGzBytes(
    [main],
    Buffer.concat([Buffer.alloc(512), inside, end]),
  ),
  "a text after the end": tarGzBytes(
    [main],
    Buffer.concat([end, Buffer.from("x")]),
  ),
  "half a block at the end": tarGzBytes([main], Buffer.alloc(256)),
  "a cut header": tarGzBytes([main], inside.subarray(0, 300)),
  "two gzip members": Buffer.concat([
    gzipSync(tarBytes([main], Buffer.alloc(0))),
    tarGzBytes([hidden]),
  ]),
  "a second gzip member after the end": Buffer.concat([
    tarGzBytes([main]),
    tarGzBytes([hidden]),
  ]),
  "bytes after gzip's end": Buffer.concat([
    tarGzBytes([main]),
    Buffer.from("x"),
  ]),
  "zeros after gzip's end": Buffer.concat([
    tarGzBytes([main]),
    Buffer.alloc(8),
  ]),
  "a wrong gzip checksum": patched(tarGzBytes([main]), -8),
  "a wrong gzip size": patched(tarGzBytes([main]), -4),
  "a gzip header of an unknown kind": patched(tarGzBytes([main]), 3, 0xe0),
};

function patched(bytes: Buffer, at: number, byte?: number): Buffer {
  const copy = Buffer.from(bytes);
  const place = at < 0 ? copy.length + at : at;
  copy[place] = byte ?? (copy[place] ?? 0) ^ 1;
  return copy;
}
