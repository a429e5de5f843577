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
  ["3.2.4", "linux_amd64"],
  ["1.0.0-rc.1+5", "darwin_arm64"],
])("names the archive of %s for %s", (text, platformText) => {
  const name = `terraform-provider-null_${text}_${platformText}.zip`;
  const version = parseVersion(text);
  const parts = { version, platform: parsePlatform(platformText) };
  expect(formatArchiveName(address, parts.version, parts.platform)).toBe(name);
  expect(parseArchiveName(address, name)).toEqual(parts);
  expect(findArchivePlatform(address, parts.version, name)).toEqual(
    parts.platform,
  );
  const other = parseVersion("3.2.40");
  expect(findArchivePlatform(address, other, name)).toBeUndefined();
});

test.each([
  ["terraform-provider-null_v3.2.4_linux_amd64.zip", "linux_amd64"],
  ["Terraform-Provider-Null-V3.2.4-Linux-Amd64-bin.zip", "linux_amd64"],
  ["terraform-provider-null.3.2.4.windows.386.zip", "windows_386"],
  ["terraform-provider-null_3.2.4_Linux_x86_64.zip", "linux_amd64"],
  ["terraform-provider-null_3.2.4_macOS_aarch64.zip", "darwin_arm64"],
  ["terraform-provider-null_3.2.4_linux_amd64_v1_x.zip", "linux_amd64"],
  ["terraform-provider-null_linux_amd64_v3.2.4.zip", "linux_amd64"],
  ["tofu-provider-null_3.2.4_linux_amd64.zip", "linux_amd64"],
  ["null-3.2.4-linux-amd64.zip", "linux_amd64"],
  ["null_v3.2.4_linux_armv6.zip", "linux_arm"],
  ["null_v3.2.4_windows_i686.zip", "windows_386"],
])("finds the platform of %s, which is not served so", (name, platform) => {
  expect(findArchivePlatform(address, parseVersion("3.2.4"), name)).toEqual(
    parsePlatform(platform),
  );
  expect(() => parseArchiveName(address, name)).toThrow(
    failing("malformed-address"),
  );
});

test.each<[string, string]>([
  ["another version", "terraform-provider-null_v3.2.5_linux_amd64.zip"],
  ["a longer version", "terraform-provider-null-3.2.40-linux-amd64.zip"],
  ["a prerelease", "terraform-provider-null-3.2.4-rc1-linux-amd64.zip"],
  ["build metadata", "terraform-provider-null_v3.2.4+1_linux_amd64.zip"],
  ["another version behind it", "null_v3.2.4_linux_amd64_3.2.5.zip"],
  ["another version behind its platform", "null_linux_amd64_13.2.4.zip"],
  ["another type", "terraform-provider-nullable_v3.2.4_linux_amd64.zip"],
  ["a longer type", "terraform-provider-null-x_v3.2.4_linux_amd64.zip"],
  ["no type", "terraform-provider_v3.2.4_linux_amd64.zip"],
  ["no version", "terraform-provider-null_linux_amd64.zip"],
  ["no architecture", "terraform-provider-null_v3.2.4_linux.zip"],
  ["a system of nobody", "terraform-provider-null-v3.2.4-beos-amd64.zip"],
  ["a folder", "x/terraform-provider-null_3.2.4_linux_amd64.zip"],
  ["a signature", "terraform-provider-null_v3.2.4_linux_amd64.zip.sig"],
  ["nothing", ""],
  ...[
    ...["null_3.2.4_linux_amd64", "null_3.2.4_linux_amd64.zip.zip"],
    ...["null_3.2.4_linux.zip", "null_3.2_linux_amd64.zip"],
    ...["null__linux_amd64.zip", "null2_3.2.4_linux_amd64.zip"],
    ...["aws_3.2.4_linux_amd64.zip", "null_3.2.4_../x_amd64.zip"],
    ...["null_3.2.4_linux_amd64.zip\n", "null_3.2.4_linux_amd64.ZIP"],
  ].map((rest): [string, string] => [rest, `terraform-provider-${rest}`]),
])("takes a name with %j for none of hashicorp/null 3.2.4", (_, name) => {
  expect(() => parseArchiveName(address, name)).toThrow(
    failing("malformed-address"),
  );
  const version = parseVersion("3.2.4");
  expect(findArchivePlatform(address, version, name)).toBeUndefined();
});
