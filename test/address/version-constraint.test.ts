import { describe, expect, test } from "vitest";
import { failing } from "../scenes/failing.ts";
import { parseVersion } from "../../src/address/version.ts";
import {
  formatVersionConstraint,
  isAllowed,
  parseModuleConstraint,
  parseVersionConstraint,
  type VersionConstraint,
} from "../../src/address/version-constraint.ts";

/** Constraint, versions that it allows, versions that it does not. */
const meanings: readonly [string, string, string][] = [
  ["1.2.3", "1.2.3", "1.2.2 1.2.4 1.2.3-beta1 1.2.3+build"],
  ["= 1.2.3", "1.2.3", "1.2.4"],
  ["1.2", "1.2.0", "1.2.1 1.3.0"],
  ["1", "1.0.0", "1.0.1 1.2.0"],
  ["01.02", "1.2.0", "1.2.1"],
  ["!= 1.5.0", "1.4.9 1.5.1 1.5.0+build", "1.5.0 1.5.1-rc1"],
  ["> 1.2.3", "1.2.4 2.0.0", "1.2.3 1.2.2 2.0.0-beta1 1.2.3+build"],
  [">= 1.0.0", "1.0.0 1.0.1 1.0.0+build", "0.9.9 1.0.0-beta1 2.0.0-beta1"],
  ["< 2", "1.9.9 0.0.1", "2.0.0 2.0.1 2.0.0-beta1"],
  ["<= 2.0", "2.0.0 1.0.0 2.0.0+build", "2.0.1"],
  ["~> 1.2.3", "1.2.3 1.2.5 1.2.10", "1.2.2 1.3.0 2.0.0 1.2.4-rc1"],
  ["~> 1.2", "1.2.0 1.2.5 1.3.0 1.10.0", "1.1.9 2.0.0 2.0.0-alpha"],
  ["~> 1", "1.0.0 1.2.5 1.3.0", "0.9.0 2.0.0"],
  ["~>1.2", "1.9.0", "2.0.0"],
  ["~> 1.2.3-beta1", "1.2.3 1.2.9", "1.2.3-beta1 1.2.3-beta2 1.3.0"],
  ["~> 1.0-beta2", "1.0.0 1.9.0", "1.0.0-beta2 2.0.0"],
  ["2.0.0-beta1", "2.0.0-beta1", "2.0.0 2.0.0-beta2"],
  ["1.0-beta2", "1.0.0-beta2", "1.0.0"],
  ["1.0.0+foo.bar", "1.0.0+foo.bar", "1.0.0 1.0.0+foo"],
  [">= 1.2, < 2.0, != 1.5.0", "1.2.0 1.4.0 1.9.9", "1.1.9 1.5.0 2.0.0"],
  ["  ~> 1.2  ", "1.2.0", "1.1.0"],
  [">= 1.0.0, 2.0.0-beta1", "2.0.0-beta1", "2.0.0-beta2 2.0.0 1.0.0"],
  ["!= 2.0.0-beta1, 2.0.0-beta1", "", "2.0.0-beta1"],
  [">= 3, < 1", "", "0.1.0 2.0.0 4.0.0"],
];

/** Terraform's own examples of the form that lock files hold. */
const canonical: readonly [string, string][] = [
  ["= 1.2", "1.2.0"],
  ["1.2.3-beta+foo.bar", "1.2.3-beta+foo.bar"],
  [">= 3", ">= 3.0.0"],
  ["~> 3", "~> 3.0"],
  ["~> 3.0.0", "~> 3.0.0"],
  ["~> 1.0-beta2", "~> 1.0-beta2"],
  [
    "> 1.0.0, < 1.0.0, >= 1.0.0, <= 1.0.0, != 1.0.0",
    "> 1.0.0, >= 1.0.0, <= 1.0.0, < 1.0.0, != 1.0.0",
  ],
  [">= 1.2.3, 1.2.3, ~> 1.2, 1.2.3", "~> 1.2, >= 1.2.3, 1.2.3"],
  [">= 2.68, >= 2.68.0", ">= 2.68.0"],
  ["~> 1.2, >= 1.2, 1.2.4", ">= 1.2.0, ~> 1.2, 1.2.4"],
  ["~> 1.2, ~> 1.2.0", "~> 1.2.0, ~> 1.2"],
  [">= 2, >= 1.2, < 1.3", ">= 1.2.0, < 1.3.0, >= 2.0.0"],
  [
    "< 1.2.3, <= 1.2.3, != 1.2.3, 1.2.3+local.2, 1.2.3+local.1, = 1.2.4, = 1.2.3, > 2, > 1.2.3, >= 1.2.3, ~> 1.2.3, ~> 1.2",
    "~> 1.2, > 1.2.3, >= 1.2.3, 1.2.3, ~> 1.2.3, <= 1.2.3, < 1.2.3, != 1.2.3, 1.2.3+local.1, 1.2.3+local.2, 1.2.4, > 2.0.0",
  ],
];

const malformed = [
  ...["", " ", ",", "1.0,", ", 1.0", "1.0,,2.0", "1.0.0.0", "v1.0.0"],
  ...[">= v1.0.0", "=> 1.1.1", "=< 1.1.1", "=  1.1.1", "=\t1.1.1", "== 1.0"],
  ...["garbage", "& 1.1.0", "^1.0", "~ 1.0", "~>", "*", "1.*.*", "1.0.x"],
  ...["1.0 || 2.0", "1.0.0 - 2.0.0", ">= 1.0 < 2", "1.0.0-", "1.0.0+"],
  ...["1.0.0-béta", "1.", "99999999999999999999.0.0", "~> 9007199254740991.0"],
  ...["latest:1"],
];

/** Allows the versions that it should, and not the others. */
function expectMeaning(
  constraint: VersionConstraint,
  ...texts: readonly [string, string]
): void {
  const [allowed = [], others = []] = texts.map((text) =>
    text.split(" ").filter(Boolean).map(parseVersion),
  );
  const all = [...allowed, ...others];
  expect(all.filter((one) => isAllowed(constraint, one))).toEqual(allowed);
}

test.each(meanings)(
  "%s means what Terraform means by it",
  (text, allowed, refused) => {
    expectMeaning(parseVersionConstraint(text), allowed, refused);
  },
);

test.each(canonical)(
  "%s is written as lock files hold it",
  (text, expected) => {
    const constraint = parseVersionConstraint(text);
    expect(formatVersionConstraint(constraint)).toBe(expected);
  },
);

test.each(malformed)("refuses %j as a version constraint", (text) => {
  expect(() => parseVersionConstraint(text)).toThrow(
    failing("malformed-address"),
  );
});

describe("the version of a module block means what go-version means by it", () => {
  test.each([
    ["~> 1.0", "1.0.0 1.5.0", "0.9.0 2.0.0"],
    ["~> 1", "1.0.0 1.5.0 2.0.0 30.0.0", "0.9.9 2.0.0-rc1"],
    ["~> v2", "2.0.0 3.1.0", "1.9.9"],
    ["~> 1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0 2.2.3"],
    ["~>  1.2", "1.2.0 1.9.0", "1.1.0 2.0.0"],
    ["v1.2.3", "1.2.3 1.2.3+build", "1.2.4"],
    ["1.2.3+other", "1.2.3 1.2.3+build", "1.2.4"],
    ["!= 1.2.3", "1.2.4", "1.2.3 1.2.3+build"],
    [" >=\tv1.0 ,\n<2 ", "1.0.0 1.9.0", "0.9.0 2.0.0"],
    ["2.0.0-beta", "2.0.0-beta", "2.0.0 2.0.0-beta1"],
    [">= 2.0.0-beta", "2.0.0 2.1.0", "2.0.0-beta 2.0.0-rc1 1.0.0"],
  ])("%j", (text, allowed, refused) => {
    expectMeaning(parseModuleConstraint(text), allowed, refused);
  });

  test.each([
    ...["", " ", ",", "1.0,", "1.0,,2.0", "garbage", "=> 1", "== 1", "^1.0"],
    ...["~ 1.0", "~>", "1.x", "1.0 || 2.0", ">= 1.0 < 2", "vv1", "V1", "1."],
    ...["1.2.3.4", "1.0.0+", "1.0.0-b\u00e9ta", "9".repeat(20)],
    Array.from({ length: 101 }, () => "1.0").join(","),
  ])("refuses %j", (text) => {
    expect(() => parseModuleConstraint(text)).toThrow(
      failing("malformed-address"),
    );
  });
});
