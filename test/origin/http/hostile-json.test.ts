import { describe, expect, it, onTestFinished, vi } from "vitest";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { failing } from "../../scenes/failing.ts";
import { parseJsonText } from "../../../src/origin/http/http-client.ts";
import {
  parsePackage,
  parseVersions,
} from "../../../src/origin/registries/registry-answers.ts";
import * as faults from "../../fakes/faults.ts";
import { never, startHome } from "../clients.ts";

const url = new URL("https://registry.example.com/v1/providers/a/b/versions");
const limit = 8 * 1024 * 1024;
const linux = { os: "linux", arch: "amd64" };

const parse = (text: string) => parseJsonText(url, Buffer.from(text));

describe("a JSON text", () => {
  it.each([
    ["nested arrays", "[".repeat(limit / 2) + "]".repeat(limit / 2)],
    ["arrays that are never closed", "[".repeat(limit)],
    ["nested objects", '{"a":'.repeat(limit / 5)],
    ["millions of small arrays", `[${"[],".repeat(limit / 3 - 1)}[]]`],
    ["an object with a million keys", `{${'"a":1,'.repeat(1e6)}"a":1}`],
  ])("of %s is refused unparsed", (_, text) => {
    const bytes = Buffer.from(text);
    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    expect(() => parseJsonText(url, bytes)).toThrow(/too many objects/);
    expect(parse).not.toHaveBeenCalled();
  });

  it("that is malformed, or no UTF-8, is refused", () => {
    for (const text of ['"', "", "[1,]", "{}{}"])
      expect(() => parse(text)).toThrow(failing("origin-answer"));
    const bytes = Uint8Array.of(0x22, 0xff, 0x22);
    expect(() => parseJsonText(url, bytes)).toThrow(/not JSON/);
  });
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

describe("a package", () => {
  it.each([
    { os: "darwin" },
    { shasum: "a".repeat(63) },
    { filename: "terraform-provider-b_1.0.1_linux_amd64.zip" },
    { download_url: "https://" },
    { shasums_url: ["b"] },
    { signing_keys: { gpg_public_keys: {} } },
  ])("that is not the one that was asked for is refused: %j", (change) => {
    expect(bind(found)).toMatchObject({ shasum: found.shasum });
    expect(() => bind({ ...found, ...change })).toThrow(
      failing("origin-answer"),
    );
  });

  it("has no key __proto__ but as a name like any other", () => {
    const hostile = `{"polluted":true,"hashes":["zh:${"a".repeat(64)}"]}`;
    const more = `"__proto__":${hostile},"constructor":{"prototype":${hostile}}`;
    const bound = bind(parse(JSON.stringify(found).replace("{", `{${more},`)));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(bound)).toBe(Object.prototype);
  });
});

const { home, clientOf, urlOf } = await startHome({ "/document": "{}" });

it.each([faults.chunked, faults.cutUnannounced(limit)])(
  "an answer without an end is cut at its limit, however it is sent",
  async (framing) => {
    const endless = faults.body(Buffer.alloc(limit, " "));
    home.script("other", faults.all(endless, framing));
    const asked = clientOf().fetchJson(urlOf("/document"), never);
    await expect(asked).rejects.toThrow(/larger than 100000 bytes/);
    expect(await home.requests.list()[0]?.ended).toBe("cut");
    expect(home.requests.count()).toBe(1);
  },
);
