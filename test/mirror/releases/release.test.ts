import { describe, expect, it } from "vitest";
import { parsePlatform } from "../../../src/address/platform.ts";
import { failing } from "../../scenes/failing.ts";
import {
  bindPackages,
  checksumsSubject,
  packageOf,
} from "../../../src/mirror/releases/release.ts";
import { acceptUnsignedChecksums } from "../../../src/verification/signed-checksums.ts";
import { address as thing } from "../../scenes/believed-releases.ts";
import { sketch as believe, digestOf } from "../../scenes/release-sketches.ts";

const linux = parsePlatform("linux_amd64");
const a = digestOf("a");
const file = (name: string) => `terraform-provider-${name}.zip`;

function bind(names: readonly string[], offered?: readonly string[]) {
  const lines = names.map((name) => `${a}  ${name}\n`).join("");
  const checksums = acceptUnsignedChecksums(
    checksumsSubject(thing),
    Buffer.from(lines),
    "signatures-off",
  );
  return bindPackages(thing, checksums, offered?.map(parsePlatform));
}

describe("what was signed is bound to the release by its name alone", () => {
  it.each([
    [
      "this provider, version and platform",
      file("thing_1.0.0_linux_amd64"),
      ["linux_amd64"],
    ],
    ["another provider", file("thin_1.0.0_linux_amd64"), []],
    ["a provider of a longer name", file("thing2_1.0.0_linux_amd64"), []],
    ["another version", file("thing_1.0.1_linux_amd64"), []],
    ["a version that begins alike", file("thing_1.0.0-rc1_linux_amd64"), []],
    ["no platform", file("thing_1.0.0"), []],
    ["no archive", "terraform-provider-thing_1.0.0_manifest.json", []],
    ["something before it", `x/${file("thing_1.0.0_linux_amd64")}`, []],
  ])("of %s: %s", (_what, name, platforms) => {
    expect([...bind([name]).keys()]).toEqual(platforms);
  });

  it("with its digest, and only for platforms that are offered", () => {
    const names = [
      file("thing_1.0.0_linux_amd64"),
      file("thing_1.0.0_darwin_arm64"),
    ];
    expect([...bind(names).values()]).toEqual(
      ["linux_amd64", "darwin_arm64"].map((name) => ({
        platform: parsePlatform(name),
        filename: file(`thing_1.0.0_${name}`),
        signedName: file(`thing_1.0.0_${name}`),
        sha256: a,
      })),
    );
    expect([...bind(names, ["darwin_arm64", "linux_arm64"]).keys()]).toEqual([
      "darwin_arm64",
    ]);
    expect(bind(names, []).size).toBe(0);
  });

  it("for at most 256 platforms", () => {
    const names = (count: number) =>
      Array.from({ length: count }, (_, n) => file(`thing_1.0.0_os${n}_amd64`));
    expect(bind(names(256)).size).toBe(256);
    expect(() => bind(names(257))).toThrow(failing("checksums-malformed"));
    expect(() => bind(names(257))).toThrow(
      "thing 1.0.0 is refused at line 257",
    );
    expect(bind(names(300), ["os1_amd64"]).size).toBe(1);
  });
});

it("a package is that of its platform, and there is none for another", async () => {
  const release = await believe({ by: "K", content: "linux=a" });
  expect(packageOf(thing, release, linux).sha256).toBe(a);
  const darwin = parsePlatform("darwin_amd64");
  expect(() => packageOf(thing, release, darwin)).toThrow(failing("not-found"));
});
