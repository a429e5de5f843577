import { expect, it } from "vitest";
import {
  findEscape,
  followLink,
  splitPath,
  type ArchiveMember,
} from "../../../src/verification/archives/members.ts";

const deep = (parts: number) => `${"a/".repeat(parts - 1)}a`;

it.each<[string, readonly string[] | undefined]>([
  ["main.tf", ["main.tf"]],
  ["a/b", ["a", "b"]],
  ["./a//b/", ["a", "b"]],
  [".", []],
  ["c:", undefined],
  ["C:main.tf", undefined],
  ["a/c:b", ["a", "c:b"]],
  ["", undefined],
  ["/main.tf", undefined],
  ["a\\b", ["a\\b"]],
  ["\\a", undefined],
  ["a\nb", undefined],
  ["a\x1b[2Kb", undefined],
  ["..", undefined],
  ["a/../b", undefined],
  ["x".repeat(4096), ["x".repeat(4096)]],
  ["x".repeat(4097), undefined],
  ["é".repeat(2048), ["é".repeat(2048)]],
  ["é".repeat(2049), undefined],
  [deep(256), deep(256).split("/")],
  [deep(257), undefined],
])("the path %j has the parts %j", (path, parts) => {
  expect(splitPath(path)).toEqual(parts);
});

it.each<[string, string, string | undefined]>([
  ["", "main.tf", "main.tf"],
  ["", "..", undefined],
  ["a/b", "c", "a/b/c"],
  ["a/b", "..", "a"],
  ["a/b", "../c", "a/c"],
  ["a/b", "../..", ""],
  ["a/b", "../../c", "c"],
  ["a/b", "../../../c", undefined],
  ["a/b", "c/..", undefined],
  ["a/b", "", undefined],
  ["a/b", "/c", undefined],
  ["a/b", deep(256), `a/b/${deep(256)}`],
  ["a/b", deep(257), undefined],
])("a link in %j to %j leads to %j", (folder, target, place) => {
  const parts = (path: string) => path.split("/").filter((part) => part !== "");
  expect(followLink(parts(folder), target)).toEqual(
    place === undefined ? undefined : parts(place),
  );
});

const file = (name: string): ArchiveMember => ({ name, kind: "file" });
const folder = (name: string): ArchiveMember => ({ name, kind: "directory" });
const link = (name: string, target?: string): ArchiveMember => ({
  ...{ name, kind: "symbolic link", target },
});
const hard = (name: string, target?: string): ArchiveMember => ({
  ...{ name, kind: "hard link", target },
});

const named = (name: string) => `a member is named ${JSON.stringify(name)}`;
const linked = (name: string, target: string) =>
  `${JSON.stringify(name)} is a link to ${JSON.stringify(target)}`;

it.each<[string, readonly ArchiveMember[], string | undefined]>([
  ["nothing", [], undefined],
  ["files", [file("a"), file("b/c")], undefined],
  ["the folder itself", [folder("./")], undefined],
  ["a file for the folder", [file("./")], 'a member is named "./"'],
  ["a link for the folder", [link("./", "a")], 'a member is named "./"'],
  ["no name", [folder("")], 'a member is named ""'],
  ["a folder above", [folder("../")], 'a member is named "../"'],
  [
    "a long name",
    [file("x".repeat(4097))],
    `a member is named "${"x".repeat(100)}"`,
  ],
  ["a link beside itself", [link("a", "b"), file("b")], undefined],
  ["a link to its parent", [link("d/a", "..")], undefined],
  ["a link above", [link("d/a", "../..")], '"d/a" is a link to "../.."'],
  ["a link to nothing", [link("a")], '"a" is a link to ""'],
  [
    "a file below a link",
    [link("a", "b"), file("a/x")],
    '"a/x" lies below a link',
  ],
  [
    "a file below a link that comes later",
    [file("d/a/b/x"), link("d/a", "c")],
    '"d/a/b/x" lies below a link',
  ],
  [
    "a file below the second link of a folder",
    [link("d/a", "c"), link("d/b", "c"), file("d/a/x")],
    '"d/a/x" lies below a link',
  ],
  [
    "a file below a link in another case",
    [link("d/a", "c"), file("D/A. /x")],
    '"D/A. /x" lies below a link',
  ],
  ["a hard link", [file("a"), hard("b", "a")], undefined],
  [
    "a backslash",
    [file("units/dev-disk-by\\x2dlabel-data.mount"), file("a\\b\\c")],
    undefined,
  ],
  [
    "a folder above, by a backslash",
    [file("a\\..\\..\\b")],
    named("a\\..\\..\\b"),
  ],
  ["a folder above, by both", [file("a/..\\..\\b")], named("a/..\\..\\b")],
  [
    "a link above, by a backslash",
    [link("d\\a", "..\\..\\b")],
    linked("d\\a", "..\\..\\b"),
  ],
  ["a link inside, by a backslash", [link("d/a", "..\\b")], undefined],
  [
    "a file below a link, by a backslash",
    [link("d/a", "c"), file("d\\a\\x")],
    `${JSON.stringify("d\\a\\x")} lies below a link`,
  ],
  [
    "a hard link above, by a backslash",
    [hard("b", "..\\a")],
    linked("b", "..\\a"),
  ],
  ["a hard link above", [hard("b", "../a")], '"b" is a link to "../a"'],
  [
    "a hard link to a link",
    [link("a", "c"), hard("b", "a")],
    '"b" is a link to "a"',
  ],
  [
    "a hard link through a link",
    [link("a", "c"), hard("b", "a/x")],
    '"b" is a link to "a/x"',
  ],
])("of an archive with %s escapes: %#", (_what, members, reason) => {
  expect(findEscape(members)).toBe(reason);
});
