import { expect, it } from "vitest";
import { parseDependencyLockFile } from "../../../src/commands/inputs/dependency-lock-file.ts";
import { widget } from "./lock-files.ts";

/** The largest file that is read. */
const size = 8 << 20;

const entry = `provider "${widget}" {\n  version = "1.0.0"\n}\n`;

it.each([
  ["beginnings of comments", "/*", /not the syntax/],
  ["comments that look like beginnings", "/*/", undefined],
  ["comments", "/**/", undefined],
  ["entries of one provider", entry, /is locked already at lock\.hcl:1/],
  ["spaces", " ", undefined],
  ["carriage returns", "\r", undefined],
  ["escapes in a string without an end", "\\a", /not the syntax/, '"'],
  ["letters in a string without an end", "a", /not the syntax/, '"'],
  ["brackets", "a=[", /expected/],
])("8 MiB of %s are read in linear time", (_, piece, problem, before = "") => {
  const text = before + piece.repeat(size / piece.length);
  const start = performance.now();
  const { problems } = parseDependencyLockFile("lock.hcl", text);
  const time = performance.now() - start;
  if (problem === undefined) expect(problems).toEqual([]);
  else expect(problems[0]?.message).toMatch(problem);
  expect(time).toBeLessThan(15_000);
});
