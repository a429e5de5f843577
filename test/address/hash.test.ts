import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  formatArchiveHash,
  parsePackageHash,
  parseSha256,
} from "../../src/address/hash.ts";
import { failing } from "../scenes/failing.ts";

const digest = createHash("sha256").update("provender");
const hex = digest.copy().digest("hex");
const base64 = digest.copy().digest("base64");

test("reads a SHA-256 in either case and keeps it in lower case", () => {
  expect(parseSha256(hex)).toBe(hex);
  expect(parseSha256(hex.toUpperCase())).toBe(hex);
});

test("writes the zh form of a SHA-256", () => {
  expect(formatArchiveHash(parseSha256(hex))).toBe(`zh:${hex}`);
});

test("reads an h1 as it is", () => {
  expect(parsePackageHash(`h1:${base64}`)).toBe(`h1:${base64}`);
});

test.each(["", hex.slice(1), `${hex}0`, `g${hex.slice(1)}`, `${hex}\n`])(
  "refuses %j as a SHA-256",
  (text) => {
    expect(() => parseSha256(text)).toThrow(failing("malformed-address"));
  },
);

test.each([
  "",
  base64,
  `h2:${base64}`,
  `zh:${hex}`,
  `h1:${base64.slice(1)}`,
  `h1:${base64.slice(0, -1)}`,
  `h1:${base64}=`,
  `h1:-${base64.slice(1)}`,
  `h1:${base64}\n`,
])("refuses %j as a package hash", (text) => {
  expect(() => parsePackageHash(text)).toThrow(failing("malformed-address"));
});
