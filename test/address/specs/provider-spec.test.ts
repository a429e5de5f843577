import { expect, test } from "vitest";
import { failing } from "../../scenes/failing.ts";
import { formatProviderAddress } from "../../../src/address/provider-address.ts";
import {
  parseProviderSpec,
  selectVersions,
} from "../../../src/address/specs/provider-spec.ts";
import { parseVersion } from "../../../src/address/version.ts";

const hosts = {
  configured: new Set(["registry.terraform.io", "registry.opentofu.org"]),
  allowsOthers: false,
};

const published = [
  "1.0.0",
  "2.0.0",
  "10.0.0-rc1",
  "1.9.0",
  "1.10.0",
  "0.9.0",
].map(parseVersion);

test.each([
  ["hashicorp/null", "2.0.0"],
  ["hashicorp/null@latest:1", "2.0.0"],
  ["hashicorp/null@latest:3", "2.0.0 1.10.0 1.9.0"],
  ["hashicorp/null@latest:99", "2.0.0 1.10.0 1.9.0 1.0.0 0.9.0"],
  ["hashicorp/null@all", "2.0.0 1.10.0 1.9.0 1.0.0 0.9.0"],
  ["hashicorp/null@ latest:1 ", "2.0.0"],
  ["hashicorp/null@~> 1.0", "1.10.0 1.9.0 1.0.0"],
  ["hashicorp/null@ >= 1.0, != 1.9.0", "2.0.0 1.10.0 1.0.0"],
  ["hashicorp/null@10.0.0-rc1", "10.0.0-rc1"],
  ["hashicorp/null@3.0.0", ""],
])("%s selects, newest first: %s", (spec, expected) => {
  const { selection } = parseProviderSpec(spec, hosts);
  expect(selectVersions(selection, published).join(" ")).toBe(expected);
});

test("leaves the list of versions as it was", () => {
  const list = [...published];
  selectVersions({ kind: "all" }, list);
  expect(list).toEqual(published);
});

test("takes the hostname that is given, and registry.terraform.io without one", () => {
  const addressOf = (spec: string) =>
    formatProviderAddress(parseProviderSpec(spec, hosts).address);
  expect(addressOf("hashicorp/null@1.0")).toBe(
    "registry.terraform.io/hashicorp/null",
  );
  expect(addressOf("registry.opentofu.org/hashicorp/null@all")).toBe(
    "registry.opentofu.org/hashicorp/null",
  );
});

test.each([
  ...["", "null", "@1.0", "hashicorp/null@", "hashicorp/null@latest"],
  ...["hashicorp/null@latest:0", "hashicorp/null@latest:-1"],
  ...["hashicorp/null@latest:1.5", "hashicorp/null@latest: 1"],
  ...["hashicorp/null@ALL", "hashicorp/null@all, 1.0", "hashicorp/null @1.0"],
  ...["hashicorp/null@1.0@2.0", "a/b/c/d@1.0"],
])("refuses %j as a SPEC", (spec) => {
  expect(() => parseProviderSpec(spec, hosts)).toThrow(
    failing("malformed-address"),
  );
});
