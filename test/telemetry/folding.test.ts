import { beforeEach, expect, it } from "vitest";
import { Folding } from "../../src/telemetry/folding.ts";

let repeats: (readonly [string, number])[];
let folding: Folding<string>;

beforeEach(() => {
  repeats = [];
  const limits = { window: 3_600_000, same: 2, group: 3, all: 5 };
  folding = new Folding(limits, {
    summarize: (_, of) => of,
    onRepeated: (entry, repeated) => repeats.push([entry, repeated]),
  });
});

const add = (group: string, entry: string) => folding.add(entry, group, entry);

it("gives what is the same so many lines, and then a count", () => {
  const folded = [1, 2, 3, 4].map(() => add("a", "a1"));
  expect(folded).toEqual(["line", "line", "repeated", "repeated"]);
  folding.close();
  expect(repeats).toEqual([["a1", 2]]);
});

it("counts what a group has no line left for, once for all of it", () => {
  const folded = ["a1", "a2", "a3", "a4", "a5"].map((one) => add("a", one));
  expect(folded).toEqual(["line", "line", "line", "other", "other"]);
  folding.close();
  expect(repeats).toEqual([["its group", 2]]);
});

it("counts the groups that come when all lines are taken", () => {
  for (const group of ["a", "b", "c", "d", "e"]) add(group, `${group}1`);
  expect(add("f", "f1")).toBe("other");
  expect(add("g", "g1")).toBe("other");
  expect(add("a", "a1")).toBe("repeated");
  folding.close();
  expect(repeats).toEqual([
    ["a1", 1],
    ["others", 2],
  ]);
});

it("begins again after each window, and reports nothing that came once", () => {
  expect(add("a", "a1")).toBe("line");
  folding.close();
  folding.close();
  expect(repeats).toEqual([]);
  expect([add("a", "a1"), add("a", "a1")]).toEqual(["line", "line"]);
});

it("never mixes an entry of any name with the count of others", () => {
  for (const name of ["a1", "a2", "a3", "a4"]) add("a", name);
  expect(add("b", "group a")).toBe("line");
  expect(add("c", "others")).toBe("line");
  folding.close();
  expect(repeats).toEqual([["its group", 1]]);
});
