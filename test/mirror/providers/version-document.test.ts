import { afterEach, describe, expect, it } from "vitest";
import * as faults from "../../fakes/faults.ts";
import type { PublishOptions } from "../../fakes/registry.ts";
import type { Release } from "../../fakes/release.ts";
import { startWorld } from "../../scenes/world.ts";

const platforms = [
  ...["darwin_amd64", "darwin_arm64", "freebsd_386", "freebsd_amd64"],
  ...["freebsd_arm", "freebsd_arm64", "linux_386", "linux_amd64", "linux_arm"],
  ...["linux_arm64", "linux_s390x", "windows_386", "windows_amd64"],
  "windows_arm64",
];

const { registry, mirror } = await startWorld();
let names = 0;

afterEach(() => registry.heal());

/** Version 1.0.0 of a provider of its own. */
function publish(options: Partial<PublishOptions> = {}): Promise<Release> {
  const type = `doc${(names += 1)}`;
  return registry.publish({ type, version: "1.0.0", ...options });
}

async function archivesOf({ type }: Release) {
  const path = `/providers/registry.terraform.io/acme/${type}/1.0.0.json`;
  const answer = await mirror.get(path);
  expect(answer.status).toBe(200);
  const { archives } = answer.json() as {
    archives: Record<string, { url: string; hashes: string[] }>;
  };
  return archives;
}

describe("VERSION.json", () => {
  it("of 14 platforms takes a question of each kind and no archive", async () => {
    for (let time = 0; time < 2; time++) {
      const release = await publish({ platforms });
      registry.requests.clear();
      const archives = await archivesOf(release);
      const asked = registry.requests.list().map(({ kind }) => kind);
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
    const release = await publish({ platforms, packages: true });
    const archives = await archivesOf(release);
    for (const { platform, sha256 } of release.archives)
      expect(archives[platform]?.hashes).toEqual([`zh:${sha256}`]);
  });

  it.each<[string, readonly string[] | undefined]>([
    ["no platforms", undefined],
    ["an empty list of platforms", []],
  ])(
    "has what is signed when the list of versions has %s",
    async (_, listed) => {
      const release = await publish({ platforms, listPlatforms: false });
      if (listed !== undefined)
        registry.script(
          "versions",
          faults.json(() => ({
            versions: [
              { version: "1.0.0", protocols: ["5.0"], platforms: listed },
            ],
          })),
        );
      expect(Object.keys(await archivesOf(release))).toEqual(platforms);
    },
  );

  it("has only what is offered of what is signed", async () => {
    const release = await publish({ platforms });
    registry.script(
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
    expect(Object.keys(await archivesOf(release))).toEqual([
      "linux_amd64",
      "windows_amd64",
    ]);
  });

  it("takes URLs that are relative to the package document", async () => {
    const release = await publish({ urls: "relative" });
    expect(Object.keys(await archivesOf(release))).toEqual(["linux_amd64"]);
  });
});
