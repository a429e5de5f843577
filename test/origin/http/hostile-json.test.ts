import { describe, expect, it, onTestFinished, vi } from "vitest";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { failing } from "../../scenes/failing.ts";
import { parseJsonText } from "../../../src/origin/http/http-client.ts";
import {
  parsePackage,
  parseVersions,
} from "../../../src/origin/registries/registry-answers.ts";

const url = new URL("https://registry.example.com/v1/providers/a/b/versions");
const limit = 8 * 1024 * 1024;
const linux = { os: "linux", arch: "amd64" };

const parse = (text: string) => parseJsonText(url, Buffer.from(text));

it("a JSON text of too many objects is refused unparsed", () => {
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  for (const text of [
    "[".repeat(limit / 2) + "]".repeat(limit / 2),
    '{"a":'.repeat(limit / 5),
    `[${"[],".repeat(limit / 3 - 1)}[]]`,
    `{${'"a":1,'.repeat(1e6)}"a":1}`,
  ]) {
    const bytes = Buffer.from(text);
    expect(() => parseJsonText(url, bytes)).toThrow(/too many objects/);
  }
  expect(parse).not.toHaveBeenCalled();
});

it("a JSON text that is malformed, or no UTF-8, is refused", () => {
  for (const text of ['"', "", "[1,]", "{}{}"])
    expect(() => parse(text)).toThrow(failing("origin-answer"));
  const bytes = Uint8Array.of(0x22, 0xff, 0x22);
  expect(() => parseJsonText(url, bytes)).toThrow(/not JSON/);
});

describe("a list of versions", () => {
  it("may be as long as its limit and no longer", () => {
    const read = (count: number) => {
      const versions = Array.from({ length: count }, (_, patch) => ({
        ...{ version: `1.0.${patch}`, protocols: ["5.0"], platforms: [linux] },
      }));
      const text = JSON.stringify({ versions });
      return parseVersions(url, parse(text), 10_000).versions.length;
    };
    expect(read(10_000)).toBe(10_000);
    expect(() => read(10_001)).toThrow(/more than 10000 versions/);
  });

  it.each([
    '{"__proto__":{"versions":[]}}',
    '{"versions":[{"__proto__":{"version":"1.0.0"}}]}',
    '{"versions":[null]}',
    "null",
    "[]",
  ])("is not found in %s", (text) => {
    expect(() => parseVersions(url, parse(text), 10)).toThrow(
      failing("origin-answer"),
    );
  });
});

const found = {
  ...{ os: "linux", arch: "amd64", shasum: "a".repeat(64) },
  filename: "terraform-provider-b_1.0.0_linux_amd64.zip",
  ...{ download_url: "a", shasums_url: "b" },
};
const bind = (answer: unknown) =>
  parsePackage(
    url,
    answer,
    providerAddress("registry.terraform.io", "a", "b"),
    parseVersion("1.0.0"),
    linux,
  );

it.each([
  { os: "darwin" },
  { shasum: "a".repeat(63) },
  { filename: "terraform-provider-b_1.0.1_linux_amd64.zip" },
  { download_url: "https://" },
  { shasums_url: ["b"] },
  { signing_keys: { gpg_public_keys: {} } },
])(
  "a package that is not the one that was asked for is refused: %j",
  (change) => {
    expect(bind(found)).toMatchObject({ shasum: found.shasum });
    expect(() => bind({ ...found, ...change })).toThrow(
      failing("origin-answer"),
    );
  },
);
