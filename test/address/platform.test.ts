import { expect, test } from "vitest";
import {
  formatPlatform,
  machinePlatform,
  parsePlatform,
} from "../../src/address/platform.ts";
import { failing } from "../scenes/failing.ts";

test("a platform is OS_ARCH", () => {
  for (const text of ["linux_amd64", "windows_386", "arbitrary_os"]) {
    const platform = parsePlatform(text);
    expect(formatPlatform(platform)).toBe(text);
    expect([platform.os, platform.arch]).toEqual(text.split("_"));
  }
});

test.each([
  ...["", "_", "linux", "linux_", "_amd64", "linux__amd64", "too_many_notes"],
  ...["Linux_amd64", "linux_amd64\n", "linux-amd64", "linux_../.."],
  `linux_${"a".repeat(33)}`,
])("refuses %j as a platform", (text) => {
  expect(() => parsePlatform(text)).toThrow(failing("malformed-address"));
});

test("names this machine in Go's words", () => {
  const nameOf = (platform: NodeJS.Platform, arch: NodeJS.Architecture) =>
    formatPlatform(machinePlatform({ platform, arch }));
  expect(nameOf("linux", "x64")).toBe("linux_amd64");
  expect(nameOf("win32", "ia32")).toBe("windows_386");
});
