import { expect, it } from "vitest";
import { findCollision } from "../../../src/verification/archives/collisions.ts";

/** Names that end in a slash are directories. */
const find = (names: readonly string[], entries = 100) =>
  findCollision(
    names.map((name) => ({
      name,
      kind: name.endsWith("/") ? "directory" : "file",
    })),
    entries,
  );

it.each([
  [["a", "b"]],
  [["a/x", "a/y"]],
  [["a/x", "b/x"]],
  [["A/x", "a/y"]],
  [["d/", "D/"]],
  [["d/x", "d/"]],
  [["d/", "d/x"]],
  [["./", "a", "."]],
  [["...", "...."]],
  [["a.b", "a b"]],
  [[".a", "a"]],
  [["$data", "a$data"]],
])("%j have places of their own", (names) => {
  expect(find(names)).toBeUndefined();
});

it.each([
  ["a", "A"],
  ["é", "e\u0301"],
  ["ß", "ẞ"],
  ["ß", "SS"],
  ["\u0390", "\u03aa\u0301"],
  ["a", "a."],
  ["a", "a "],
  ["a", "a. ."],
  ["a.b", "a.b."],
  ["ab", "ab::$DATA"],
  ["ab", "AB:$data"],
  ["A/x", "a/X"],
  ["a./x", "A/x"],
  ["a", "a/x"],
  ["a", "a/b/c"],
  ["a/x", "a"],
  ["a/b/c", "A/b"],
  ["d/", "d"],
  ["d", "D/"],
])("%j and %j take one place", (first, second) => {
  expect(find([first, "else", second])).toBe(
    `"${first}" and "${second}" take the same place on some systems, and one of them needs another name`,
  );
});

it("every letter takes one place with its forms of either case", () => {
  const parted: string[] = [];
  for (let code = 0x80; code < 0x20000; code++) {
    const letter = String.fromCodePoint(code);
    if (!/\p{L}/u.test(letter)) continue;
    const forms = ["NFC", "NFD"].flatMap((form) => [
      letter.toUpperCase().normalize(form),
      letter.toLowerCase().normalize(form),
    ]);
    if (forms.some((form) => find([letter, form]) === undefined))
      parted.push(letter);
  }
  expect(parted).toEqual([]);
});

it("a name that comes again is named once", () => {
  expect(find(["a/b", "c", "a/b"])).toBe('it has "a/b" twice');
});

it("parts of names are counted once, up to a limit", () => {
  const parts = (count: number) => Array(count).fill("p").join("/");
  expect(find([parts(31)], 1)).toBeUndefined();
  expect(find([parts(31), `${parts(30)}/`], 1)).toBeUndefined();
  expect(find([parts(32)], 1)).toBe("its names have too many parts");
});
