import { describe, expect, it } from "vitest";
import {
  PackBudget,
  type PackLimits,
} from "../../../../src/mirror/modules/packing/budget.ts";

const limits: PackLimits = { entries: 2, expandedBytes: 100 };

type Step = (budget: PackBudget) => void;

const path = (parts: number) =>
  Array.from({ length: parts }, () => "a").join("/");

/** Each step is taken so many times, and once more is too much. */
const cases: readonly (readonly [string, number, Step, string])[] = [
  ["looks", 8, (b) => b.visit("a"), "8 files and folders"],
  ["names' bytes", 1, (b) => b.visit("a".repeat(600)), "1024 bytes of names"],
  ["bytes that letters take", 1, (b) => b.visit("ü".repeat(300)), "1024 bytes"],
  ["links", 1_000, (b) => b.readLink(1), "1000 links"],
  ["steps", 10_000, (b) => b.followLink(), "10000 steps through links"],
  ["empty files", 2, (b) => b.keepFile(0), "2 members"],
  ["files' bytes", 1, (b) => b.keepFile(51), "100 bytes"],
];

describe("the budget of a repository", () => {
  it.each(cases)("bounds %s", (_, times, step, what) => {
    const budget = new PackBudget(limits);
    for (let n = 0; n < times; n++) step(budget);
    expect(() => step(budget)).toThrow(`it has more than ${what}`);
  });

  it.each([
    ["one of 256 parts", path(256), undefined],
    ["one of 257 parts", path(257), "more than 256 parts"],
    ["one of 4096 bytes", "a".repeat(4096), undefined],
    ["one of 4097 bytes", "a".repeat(4097), "more than 4096 bytes"],
    [
      "one of 4097 bytes in fewer letters",
      `a${"ü".repeat(2048)}`,
      "4096 bytes",
    ],
  ])("judges a path: %s", (_, name, fault) => {
    const budget = new PackBudget({ ...limits, entries: 100 });
    const visit = () => budget.visit(name);
    if (fault === undefined) expect(visit).not.toThrow();
    else expect(visit).toThrow(fault);
  });

  it("takes no link with a target that no path can have", () => {
    const budget = new PackBudget(limits);
    budget.readLink(4096);
    expect(() => budget.readLink(4097)).toThrow("a target that is too long");
  });

  it("takes exactly what is allowed", () => {
    const budget = new PackBudget(limits);
    budget.keepFile(99);
    budget.keepFile(1);
    expect(() => budget.keepFile(0)).toThrow(RangeError);
  });
});
