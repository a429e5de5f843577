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

test("refuses what is no SHA-256, and no package hash", () => {
  const bad = ["", hex.slice(1), `${hex}0`, `g${hex.slice(1)}`, `${hex}\n`];
  for (const text of bad)
    expect(() => parseSha256(text), text).toThrow(failing("malformed-address"));
  for (const text of [
    ...["", base64, `h2:${base64}`, `h1:${base64.slice(1)}`],
    ...[`h1:${base64}=`, `h1:${base64}\n`, `h1:-${base64.slice(1)}`],
  ])
    expect(() => parsePackageHash(text), text).toThrow(
      failing("malformed-address"),
    );
});
