import { expect, test } from "vitest";
import {
  formatPlatform,
  machinePlatform,
  parsePlatform,
} from "../../src/address/platform.ts";
import { failing } from "../scenes/failing.ts";

test.each(["linux_amd64", "windows_386", "arbitrary_os", "darwin_arm64"])(
  "reads the platform %s and writes it again",
  (text) => {
    const platform = parsePlatform(text);
    expect(formatPlatform(platform)).toBe(text);
    expect([platform.os, platform.arch]).toEqual(text.split("_"));
  },
);

test.each([
  ...["", "_", "linux", "linux_", "_amd64", "linux__amd64", "too_many_notes"],
  ...["Linux_amd64", "linux_amd64 ", "linux_amd64\n", "linux-amd64"],
  ...["linux_../.."],
  `linux_${"a".repeat(33)}`,
])("refuses %j as a platform", (text) => {
  expect(() => parsePlatform(text)).toThrow(failing("malformed-address"));
});

test.each([
  ["linux", "x64", "linux_amd64"],
  ["win32", "ia32", "windows_386"],
  ["darwin", "arm64", "darwin_arm64"],
] as const)("calls Node's %s on %s %s", (platform, arch, expected) => {
  expect(formatPlatform(machinePlatform({ platform, arch }))).toBe(expected);
});
