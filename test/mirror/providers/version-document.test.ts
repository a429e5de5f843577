import { describe, expect, it } from "vitest";
import * as faults from "../../fakes/faults.ts";
import { DocumentScene, opentofu } from "../../scenes/document-scene.ts";

const platforms = [
  "darwin_amd64",
  "darwin_arm64",
  "freebsd_386",
  "freebsd_amd64",
  "freebsd_arm",
  "freebsd_arm64",
  "linux_386",
  "linux_amd64",
  "linux_arm",
  "linux_arm64",
  "linux_s390x",
  "windows_386",
  "windows_amd64",
  "windows_arm64",
];

const scene = new DocumentScene();

describe("VERSION.json", () => {
  it("of 14 platforms takes a question of each kind and no archive", async () => {
    for (let time = 0; time < 2; time++) {
      const release = await scene.publish({ platforms });
      scene.registry.requests.clear();
      const archives = await scene.archivesOf(release);
      const asked = scene.registry.requests.list().map(({ kind }) => kind);
      expect(asked.toSorted()).toEqual([
        "checksums",
        ...(time === 0 ? ["discovery"] : []),
        "package",
        "signature",
        "versions",
      ]);
      const expected = release.archives.map((archive) => [
        archive.platform,
        { url: archive.filename, hashes: [`zh:${archive.sha256}`] },
      ]);
      expect(archives).toEqual(Object.fromEntries(expected));
    }
  });

  it("has no h1 that only the registry reports", async () => {
    const release = await scene.publish({ platforms, packages: true });
    const archives = await scene.archivesOf(release, opentofu);
    for (const { platform, sha256 } of release.archives)
      expect(archives[platform]?.hashes).toEqual([`zh:${sha256}`]);
  });

  it.each<[string, readonly string[] | undefined]>([
    ["no platforms", undefined],
    ["an empty list of platforms", []],
  ])(
    "has what is signed when the list of versions has %s",
    async (_, listed) => {
      const release = await scene.publish({ platforms, listPlatforms: false });
      if (listed !== undefined)
        scene.registry.script(
          "versions",
          faults.json(() => ({
            versions: [
              { version: "1.0.0", protocols: ["5.0"], platforms: listed },
            ],
          })),
        );
      expect(Object.keys(await scene.archivesOf(release))).toEqual(platforms);
    },
  );

  it("has only what is offered of what is signed", async () => {
    const release = await scene.publish({ platforms });
    scene.registry.script(
      "versions",
      faults.json(() => ({
        versions: [
          {
            version: "1.0.0",
            protocols: ["5.0"],
            platforms: [
              { os: "linux", arch: "amd64" },
              { os: "windows", arch: "amd64" },
              { os: "../..", arch: "%2e" },
            ],
          },
        ],
      })),
    );
    expect(Object.keys(await scene.archivesOf(release))).toEqual([
      "linux_amd64",
      "windows_amd64",
    ]);
  });

  it("takes URLs that are relative to the package document", async () => {
    const release = await scene.publish({ urls: "relative" });
    expect(Object.keys(await scene.archivesOf(release))).toEqual([
      "linux_amd64",
    ]);
  });
});
