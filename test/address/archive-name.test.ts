import { expect, test } from "vitest";
import {
  findArchivePlatform,
  formatArchiveName,
  parseArchiveName,
} from "../../src/address/archive-name.ts";
import { parsePlatform } from "../../src/address/platform.ts";
import { parseProviderAddress } from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import { failing } from "../scenes/failing.ts";

const address = parseProviderAddress("hashicorp/null");

test.each([
  ["3.2.4", "linux_amd64", "terraform-provider-null_3.2.4_linux_amd64.zip"],
  [
    "1.0.0-rc.1+5",
    "darwin_arm64",
    "terraform-provider-null_1.0.0-rc.1+5_darwin_arm64.zip",
  ],
])("names the archive of %s for %s %s", (version, platform, name) => {
  const parts = {
    version: parseVersion(version),
    platform: parsePlatform(platform),
  };
  expect(formatArchiveName(address, parts.version, parts.platform)).toBe(name);
  expect(parseArchiveName(address, name)).toEqual(parts);
  expect(findArchivePlatform(address, parts.version, name)).toEqual(
    parts.platform,
  );
  const other = parseVersion("3.2.40");
  expect(findArchivePlatform(address, other, name)).toBeUndefined();
});

test.each([
  "",
  "terraform-provider-null_3.2.4_linux_amd64",
  "terraform-provider-null_3.2.4_linux_amd64.zip.zip",
  "terraform-provider-null_3.2.4_linux.zip",
  "terraform-provider-null_3.2.4_linux_amd64_x.zip",
  "terraform-provider-null_v3.2.4_linux_amd64.zip",
  "terraform-provider-null_3.2_linux_amd64.zip",
  "terraform-provider-null__linux_amd64.zip",
  "terraform-provider-null2_3.2.4_linux_amd64.zip",
  "terraform-provider-aws_3.2.4_linux_amd64.zip",
  "x/terraform-provider-null_3.2.4_linux_amd64.zip",
  "terraform-provider-null_3.2.4_../x_amd64.zip",
  "terraform-provider-null_3.2.4_Linux_amd64.zip",
  "terraform-provider-null_3.2.4_linux_amd64.zip\n",
  "terraform-provider-null_3.2.4_linux_amd64.ZIP",
])("refuses %j as an archive name of hashicorp/null", (name) => {
  expect(() => parseArchiveName(address, name)).toThrow(
    failing("malformed-address"),
  );
  const version = parseVersion("3.2.4");
  expect(findArchivePlatform(address, version, name)).toBeUndefined();
});
