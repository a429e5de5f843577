import { expect, it } from "vitest";
import {
  formatTarHeader,
  largestMember,
  readTarSize,
  tarPadding,
} from "../../../src/mirror/bundles/tar-header.ts";

const member = { name: "a/b", size: 520 };

it.each([
  [0, "a/b\0"],
  [100, "0000644\0"],
  [108, "0000000\0"],
  [116, "0000000\0"],
  [124, "00000001010\0"],
  [136, "00000000000\0"],
  [156, "0\0"],
  [257, "ustar\x0000"],
  [329, "0000000\0"],
  [337, "0000000\0"],
])("a member's header has at %i what ustar wants", (at, text) => {
  const header = formatTarHeader(member);
  expect(header.toString("latin1", at, at + text.length)).toBe(text);
});

it.each([0, 520, largestMember])("a size of %i is read back", (size) => {
  expect(readTarSize(formatTarHeader({ ...member, size }))).toBe(size);
});

it("refuses a size that is not octal", () => {
  const header = formatTarHeader(member);
  header.write("8", 124);
  expect(readTarSize(header)).toBeUndefined();
});

it.each([
  [0, 0],
  [1, 511],
  [512, 0],
  [513, 511],
])("%i bytes are filled up with %i", (size, padding) => {
  expect(tarPadding(size)).toBe(padding);
});
