import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

const folders = {
  source: "src/**/*.ts",
  tests: "{test,bench,soak,demo,packaging}/**/*.{ts,cjs}",
};

/** First words of a comment that say neither what a function does nor what a value is. */
const firstWords =
  /(?:\/\*\*?|\/\/|^ *\*) *(?:What|Who|Whose|Whoever|Of)\b.*/gm;

/** Words without an actor, and words that make persons of data. */
const banned =
  /\b(?:nobody|somebody|whoever|whatever|anew|no more|told|believed|held against)\b/gi;

/** Comments, and strings; code between them is no prose. */
const prose =
  /(?<=^|\s)\/\*[^]*?\*\/|(?<=^|\s)\/\/.*(?:\n *\/\/.*)*|"(?:\\.|[^"\\\n])*"/gm;

/** Joins the lines of a comment, so that two words at a line's end are found. */
function unwrap(text: string): string {
  return text.replaceAll(/\n *(?:\*|\/\/)? */g, " ");
}

/** Leaves comments, and the names of tests and cases: strings of several words. */
function proseOf(text: string): string {
  const found = text.match(prose) ?? [];
  return found.filter((one) => one.includes(" ")).join("\n");
}

function findAll(
  glob: string,
  pattern: RegExp,
  read: (text: string) => string,
): readonly string[] {
  const files = globSync(glob, { cwd: root }).filter(
    (path) => path !== "test/words.test.ts",
  );
  return files.flatMap((path) => {
    const text = read(readFileSync(join(root, path), "utf8"));
    return [...text.matchAll(pattern)].map(([found]) => `${path}: ${found}`);
  });
}

describe("the words of the source", () => {
  it("begin a comment with a verb or a noun", () => {
    expect(findAll(folders.source, firstWords, (text) => text)).toEqual([]);
  });

  it("name the actor, and what is done with data", () => {
    expect(findAll(folders.source, banned, unwrap)).toEqual([]);
  });
});

describe("the words of the tests", () => {
  it("begin a comment with a verb or a noun", () => {
    expect(findAll(folders.tests, firstWords, (text) => text)).toEqual([]);
  });

  it("name the actor, and what is done with data", () => {
    const read = (text: string) => unwrap(proseOf(text));
    expect(findAll(folders.tests, banned, read)).toEqual([]);
  });
});
