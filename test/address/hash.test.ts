import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { parsePackageHash, parseSha256 } from "../../src/address/hash.ts";
import { failing } from "../scenes/failing.ts";

const hex = hash("sha256", "provender");
const base64 = hash("sha256", "provender", "base64");

test("reads a SHA-256 in either case, in lower case, and an h1 as it is", () => {
  expect(parseSha256(hex)).toBe(hex);
  expect(parseSha256(hex.toUpperCase())).toBe(hex);
  expect(parsePackageHash(`h1:${base64}`)).toBe(`h1:${base64}`);
});

test.each(["", hex.slice(1), `${hex}0`, `g${hex.slice(1)}`, `${hex}\n`])(
  "refuses %j as a SHA-256",
  (text) => {
    expect(() => parseSha256(text)).toThrow(failing("malformed-address"));
  },
);

test.each([
  ...["", base64, `h2:${base64}`, `zh:${hex}`, `h1:${base64.slice(1)}`],
  ...[`h1:${base64.slice(0, -1)}`, `h1:${base64}=`, `h1:${base64}\n`],
  `h1:-${base64.slice(1)}`,
])("refuses %j as a package hash", (text) => {
  expect(() => parsePackageHash(text)).toThrow(failing("malformed-address"));
});
