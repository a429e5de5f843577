import { expect, it } from "vitest";
import {
  parseLongText,
  parsePaxRecords,
  refuseGlobalAttributes,
} from "../../../src/verification/archives/tar-attributes.ts";
import { paxRecord } from "./tar-bytes.ts";

const unreadable = "a member has unreadable attributes";
const sparse = "it has a sparse file";

it.each<[string, readonly (readonly [string, string])[], object | string]>([
  ["nothing", [], {}],
  ["a path", [["path", "a.tf"]], { name: "a.tf" }],
  ["a link", [["linkpath", "a.tf"]], { target: "a.tf" }],
  ["a size", [["size", "12"]], { size: 12 }],
  ["the largest size", [["size", "9".repeat(15)]], { size: 10 ** 15 - 1 }],
  [
    "all three, in any order",
    [
      ["size", "0"],
      ["linkpath", "b"],
      ["comment", "c"],
      ["path", "a=b\n"],
    ],
    { name: "a=b\n", target: "b", size: 0 },
  ],
  ["a comment with a NUL", [["comment", "a\0b"]], {}],
  ["no comment", [["comment", ""]], {}],
  ["an owner", [["uid", "-12"]], {}],
  ["no owner", [["uid", ""]], {}],
  ["a time", [["mtime", "-1.5"]], {}],
  ["a name of the owner", [["uname", "é"]], {}],
  ["the character set", [["hdrcharset", "ISO-IR 10646 2000 UTF-8"]], {}],
  ["an extended attribute", [["SCHILY.xattr.user.x", "y"]], {}],
  ["an owner that is none", [["uid", "root"]], unreadable],
  ["a group that is none", [["gid", "root"]], unreadable],
  ["a time that is none", [["mtime", "now"]], unreadable],
  ["another character set", [["hdrcharset", "BINARY"]], unreadable],
  ["no path", [["path", ""]], unreadable],
  ["no link", [["linkpath", ""]], unreadable],
  ["no size", [["size", ""]], unreadable],
  ["a size that is none", [["size", "0x1"]], unreadable],
  ["a size of 16 digits", [["size", "1".repeat(16)]], unreadable],
  ["a path with a NUL", [["path", "a\0b"]], unreadable],
  ["a link with a NUL", [["linkpath", "a\0b"]], unreadable],
  ["an owner's name with a NUL", [["uname", "a\0b"]], unreadable],
  ["a key with a NUL", [["pa\0th", "a"]], unreadable],
  ["no key", [["", "a"]], unreadable],
  [
    "a key twice",
    [
      ["comment", "a"],
      ["comment", "b"],
    ],
    "a member has an attribute twice",
  ],
  ["a map of a sparse file", [["GNU.sparse.map", "0,7"]], sparse],
  ["a type by star", [["SCHILY.filetype", "d"]], sparse],
  ["a size by star", [["SCHILY.realsize", "1"]], sparse],
])(
  "of pax records with %s is read what there is",
  (_what, records, expected) => {
    const bytes = Buffer.concat(records.map((one) => paxRecord(...one)));
    const read = () =>
      Object.fromEntries(
        Object.entries(parsePaxRecords(bytes)).map(([key, value]) => [
          key,
          typeof value === "number" ? value : String(value),
        ]),
      );
    if (typeof expected === "string") expect(read).toThrow(expected);
    else expect(read()).toEqual(expected);
  },
);

it.each([
  "path=a\n",
  " 8 path=a\n",
  "09 path=a\n",
  "0 path=a\n",
  "8 path=a\n",
  "11 path=a\n",
  "10 path=a\n\n",
  "9 path=a",
  "9 path=ab",
  "99 path=a\n",
  "7 path\n",
  "7 path\n9 path=a\n",
  "9 path=a\npath=b\n",
  "9 path=a\n9path=bc\n",
  "5 =a\n",
  "1234567 path=a\n",
])("pax records that say %j are unreadable", (text) => {
  expect(() => parsePaxRecords(Buffer.from(text))).toThrow(unreadable);
});

it("nothing but comments may be said of all members", () => {
  const refuse = (key: string) => () =>
    refuseGlobalAttributes(paxRecord(key, "1"));
  refuseGlobalAttributes(Buffer.of());
  expect(refuse("comment")).not.toThrow();
  for (const key of ["path", "linkpath", "size"])
    expect(refuse(key)).toThrow(
      "it has a name, link or size for all its members",
    );
});

it.each([
  ["a.tf\0", "a.tf"],
  ["a.tf", "a.tf"],
  ["a.tf\0\0\0", "a.tf"],
])("a long text %j is %j", (text, expected) => {
  expect(String(parseLongText(Buffer.from(text)))).toBe(expected);
});

it.each(["", "\0", "\0a", "a\0b", "a\0\0b\0"])(
  "a long text %j is unreadable",
  (text) => {
    expect(() => parseLongText(Buffer.from(text))).toThrow(unreadable);
  },
);
