import { describe, expect, it } from "vitest";
import {
  formatModuleConstraint,
  isAllowedForModule,
  parseModuleConstraint,
} from "../../src/address/module-constraint.ts";
import { parseVersion } from "../../src/address/version.ts";
import { failing } from "../scenes/failing.ts";

const words = (text: string) => text.split(" ").filter((word) => word !== "");

describe("the version of a module block means what go-version means by it", () => {
  /** Constraint, versions that it allows, versions that it does not. */
  it.each([
    ["~> 1.0", "1.0.0 1.5.0", "0.9.0 2.0.0"],
    ["~> 1", "1.0.0 1.5.0 2.0.0 30.0.0", "0.9.9 2.0.0-rc1"],
    ["~> v2", "2.0.0 3.1.0", "1.9.9"],
    ["~> 1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0 2.2.3"],
    ["~> 1.2.3.0", "", "1.2.3 1.2.4 2.0.0"],
    ["~>  1.2", "1.2.0 1.9.0", "1.1.0 2.0.0"],
    ["~>1.2", "1.2.0 1.9.0", "1.1.0 2.0.0"],
    ["v1.2.3", "1.2.3 1.2.3+build", "1.2.4"],
    ["1.2.3.0", "1.2.3", "1.2.4"],
    ["1.2.3.0.0", "1.2.3", "1.2.4"],
    ["1.2.3.4", "", "1.2.3 1.2.4"],
    [">= 1.2.3.4", "1.2.4 2.0.0", "1.2.3"],
    ["< 1.2.3.4, > 1.2.2.9", "1.2.3", "1.2.2 1.2.4"],
    ["!= 1.2.3.4", "1.2.3 1.2.4", ""],
    ["1.2.3+other", "1.2.3 1.2.3+build", "1.2.4"],
    ["!= 1.2.3", "1.2.4", "1.2.3 1.2.3+build"],
    ["<= 1.2.3+x", "1.2.3 1.2.3+build", "1.2.4"],
    [">= v1.0, < v2.0", "1.0.0 1.9.0", "0.9.0 2.0.0"],
    [" >=\t1.0 ,\n<2 ", "1.0.0 1.9.0", "0.9.0 2.0.0"],
    ["01.02", "1.2.0", "1.2.1"],
    ["1", "1.0.0", "1.0.1"],
    ["2.0.0-beta", "2.0.0-beta", "2.0.0 2.0.0-beta1"],
    ["2.0.0beta", "2.0.0-beta", "2.0.0"],
    ["v2.0.0-beta", "", "2.0.0-beta 2.0.0"],
    [">= 2.0.0-beta", "2.0.0 2.1.0", "2.0.0-beta 2.0.0-rc1 1.0.0"],
    [">= 2.0.0-alpha, 2.0.0-beta", "2.0.0-beta", "2.0.0-alpha 2.0.0"],
    [">= 1.0.0, 2.0.0-beta", "", "2.0.0-beta 2.0.0 1.0.0"],
    ["~> 2.0.0-beta", "", "2.0.0-beta 2.0.0 2.0.1"],
  ])("%j", (text, allowed, refused) => {
    const constraint = parseModuleConstraint(text);
    const passes = (word: string) =>
      isAllowedForModule(constraint, parseVersion(word));
    const all = [...words(allowed), ...words(refused)];
    expect(all.filter(passes)).toEqual(words(allowed));
  });
});

it("is written as it was, in one form of blanks", () => {
  const constraint = parseModuleConstraint(">=  v1.0,<2 ,= 1.5.0.0+x");
  expect(formatModuleConstraint(constraint)).toBe(">= v1.0, < 2, 1.5.0.0+x");
});

it.each([
  ...["", " ", ",", "1.0,", "1.0,,2.0", "garbage", "=> 1", "== 1", "^1.0"],
  ...["~ 1.0", "~>", "*", "1.x", "1.0 || 2.0", ">= 1.0 < 2", "vv1", "V1", "1."],
  ...["1.0.0+", "1.0.0-b\u00e9ta", "9".repeat(20)],
  Array.from({ length: 101 }, () => "1.0").join(","),
])("refuses %j as the version of a module", (text) => {
  expect(() => parseModuleConstraint(text)).toThrow(
    failing("malformed-address"),
  );
});
