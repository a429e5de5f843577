import { expect, test } from "vitest";
import {
  formatProviderAddress,
  parseProviderAddress,
} from "../../src/address/provider-address.ts";
import { failing } from "../scenes/failing.ts";

const longest = "a".repeat(64);

test.each([
  ["hashicorp/aws", "registry.terraform.io/hashicorp/aws"],
  ["example.com:443/a/b", "example.com/a/b"],
  ["localhost:8443/a/b", "localhost:8443/a/b"],
  ["repo__acme/kube", "registry.terraform.io/repo__acme/kube"],
  ["a-1/b--c", "registry.terraform.io/a-1/b--c"],
  [`${longest}/${longest}`, `registry.terraform.io/${longest}/${longest}`],
])("reads %s as the provider address %s", (text, address) => {
  const parsed = parseProviderAddress(text);
  expect(formatProviderAddress(parsed)).toBe(address);
  expect(parseProviderAddress(address)).toEqual(parsed);
});

test.each([
  ...["", "aws", "hashicorp/", "/aws", "/hashicorp/aws", "a/b/c/d"],
  ...["Hashicorp/aws", "hashicorp/a_ws", "acme_/aws", "_acme/aws"],
  ...["hashicorp/-aws", "hashicorp/aws-", "hashicorp/..", ".acme/aws"],
  ...["hashicorp/aws\n", "hashicorp/%61ws", `hashicorp/${longest}a`],
])("refuses %j as a provider address", (text) => {
  expect(() => parseProviderAddress(text)).toThrow(
    failing("malformed-address"),
  );
});
