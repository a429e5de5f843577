import { describe, expect, it } from "vitest";
import { PackBudget } from "../../../../src/mirror/modules/packing/budget.ts";
import { planArchive } from "../../../../src/mirror/modules/packing/plan.ts";

/** A file's content, or a link's target behind `->`. */
type Files = Readonly<Record<string, string>>;

/** Where each name of the archive gets its content from: the content of a file is its id. */
function plan(files: Files, entries = 100): Files {
  const isLink = (text: string) => text.startsWith("->");
  const all = Object.entries(files);
  const read = {
    entries: all.map(([path, text]) => ({
      kind: isLink(text) ? ("link" as const) : ("file" as const),
      path,
      id: text,
      size: text.length,
    })),
    targets: new Map(
      all
        .filter(([, text]) => isLink(text))
        .map(([path, text]) => [path, text.slice(2)]),
    ),
  };
  const budget = new PackBudget({ entries, expandedBytes: 1_000 });
  const planned = planArchive(read, budget);
  return Object.fromEntries(planned.map(({ path, id }) => [path, id]));
}

describe("the plan of an archive", () => {
  it.each<[string, Files, Files]>([
    ["files as they are", { a: "1", "b/c": "2" }, { a: "1", "b/c": "2" }],
    ["what a link leads to", { a: "1", l: "->a" }, { a: "1", l: "1" }],
    [
      "a folder that a link leads to",
      { "d/a": "1", l: "->d" },
      { "d/a": "1", "l/a": "1" },
    ],
    [
      "a way through a link",
      { "d/a": "1", l: "->d", m: "->l/a" },
      { "d/a": "1", "l/a": "1", m: "1" },
    ],
    [
      "a way up and down",
      { "d/a": "1", "e/l": "->../d/a" },
      { "d/a": "1", "e/l": "1" },
    ],
    ["no link to nothing", { a: "1", l: "->none" }, { a: "1" }],
    ["no link below a file", { a: "1", l: "->a/b" }, { a: "1" }],
    ["no link to itself", { a: "1", l: "->l" }, { a: "1" }],
    ["no links in a circle", { a: "1", l: "->m", m: "->l" }, { a: "1" }],
    [
      "no link to the folder that it lies in",
      { "d/a": "1", "d/l": "->." },
      { "d/a": "1" },
    ],
    ["no link to the top", { "d/a": "1", "d/l": "->.." }, { "d/a": "1" }],
  ])("has %s", (_, files, expected) => {
    expect(plan(files)).toEqual(expected);
  });

  it.each(["->..", "->/etc", "->../../d", "->d/../..", "->a\\b", "->C:x"])(
    "refuses a link %s out of the repository",
    (link) => {
      expect(() => plan({ "d/a": "1", l: link })).toThrow(/is a link to/);
    },
  );

  it("is in the order of the names' bytes, not in git's", () => {
    const files = { "b.tf": "1", "a/z": "2", ü: "3", "a.tf": "4", Z: "5" };
    const order = ["Z", "a.tf", "a/z", "b.tf", "ü"];
    expect(Object.keys(plan(files))).toEqual(order);
  });

  it("counts what links lead to each time", () => {
    const files = { "d/a": "1", "d/b": "2", l: "->d", m: "->d" };
    expect(Object.keys(plan(files, 6))).toHaveLength(6);
    expect(() => plan(files, 5)).toThrow("more than 5 members");
  });
});
