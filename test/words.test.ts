import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const source = join(import.meta.dirname, "..", "src");

const files = globSync("**/*.ts", { cwd: source }).map((path) => ({
  path,
  text: readFileSync(join(source, path), "utf8"),
}));

/** First words of a comment that say neither what a function does nor what a value is. */
const firstWords =
  /(?:\/\*\*?|\/\/|^ *\*) *(?:What|Who|Whose|Whoever|Of)\b.*/gm;

/** Words without an actor, and words that make persons of data. */
const banned =
  /\b(?:nobody|somebody|whoever|whatever|anew|no more|told|believed|held against)\b/gi;

/** Joins the lines of a comment, so that two words at a line's end are found. */
function unwrap(text: string): string {
  return text.replaceAll(/\n *(?:\*|\/\/)? */g, " ");
}

function findAll(pattern: RegExp, read: (text: string) => string) {
  return files.flatMap(({ path, text }) =>
    [...read(text).matchAll(pattern)].map(([found]) => `${path}: ${found}`),
  );
}

describe("the words of the source", () => {
  it("begin a comment with a verb or a noun", () => {
    expect(findAll(firstWords, (text) => text)).toEqual([]);
  });

  it("name the actor, and what is done with data", () => {
    expect(findAll(banned, unwrap)).toEqual([]);
  });
});
