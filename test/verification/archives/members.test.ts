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

const kinds: Readonly<Record<string, ArchiveMember["kind"]>> = {
  ...{ f: "file", d: "directory", l: "symbolic link", h: "hard link" },
};

/** Members as `f NAME`, `d NAME`, and links as `l NAME -> TARGET` and `h NAME -> TARGET`. */
function read(text: string): readonly ArchiveMember[] {
  return text.split("; ").map((member) => {
    const [name = "", target] = member.slice(2).split(" -> ");
    return { name, kind: kinds[member[0] ?? ""] ?? "file", target };
  });
}

const named = (name: string) => `a member is named ${JSON.stringify(name)}`;
const linked = (name: string, target: string) =>
  `${JSON.stringify(name)} is a link to ${JSON.stringify(target)}`;
const below = (name: string) => `${JSON.stringify(name)} lies below a link`;

it.each<[string, string | undefined]>([
  ["f a; f b/c", undefined],
  ["d ./", undefined],
  ["f ./", named("./")],
  ["l ./ -> a", named("./")],
  ["d ", named("")],
  ["d ../", named("../")],
  [`f ${"x".repeat(4097)}`, named("x".repeat(100))],
  ["l a -> b; f b", undefined],
  ["l d/a -> ..", undefined],
  ["l d/a -> ../..", linked("d/a", "../..")],
  ["l a", linked("a", "")],
  ["l a -> b; f a/x", below("a/x")],
  ["f d/a/b/x; l d/a -> c", below("d/a/b/x")],
  ["l d/a -> c; l d/b -> c; f d/a/x", below("d/a/x")],
  ["l d/a -> c; f D/A. /x", below("D/A. /x")],
  ["f a; h b -> a", undefined],
  [String.raw`f dev-disk-by\x2dlabel-data.mount; f a\b\c`, undefined],
  ["f a\\..\\..\\b", named("a\\..\\..\\b")],
  ["f a/..\\..\\b", named("a/..\\..\\b")],
  ["l d\\a -> ..\\..\\b", linked("d\\a", "..\\..\\b")],
  ["l d/a -> ..\\b", undefined],
  ["l d/a -> c; f d\\a\\x", below("d\\a\\x")],
  ["h b -> ..\\a", linked("b", "..\\a")],
  ["h b -> ../a", linked("b", "../a")],
  ["l a -> c; h b -> a", linked("b", "a")],
  ["l a -> c; h b -> a/x", linked("b", "a/x")],
])("an archive with %j escapes: %s", (members, reason) => {
  expect(findEscape(read(members))).toBe(reason);
});
