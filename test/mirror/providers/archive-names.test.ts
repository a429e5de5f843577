import { describe, expect, it } from "vitest";
import * as faults from "../../fakes/faults.ts";
import { startWorld } from "../../scenes/world.ts";

const platforms = ["linux_amd64", "darwin_arm64"];
const mirrored = "providers/registry.terraform.io/acme/";
const published = "v1/providers/registry.terraform.io/acme/";

const { registry, mirror } = await startWorld();

const writings: readonly (readonly [string, (platform: string) => string])[] = [
  [
    "dash",
    (p) => `terraform-provider-dash-v1.0.0-${p.replace("_", "-")}-bin.zip`,
  ],
  ["vee", (p) => `terraform-provider-vee_v1.0.0_${p}.zip`],
  ["dots", (p) => `terraform-provider-dots.1.0.0.${p.replace("_", ".")}.zip`],
];

describe.each(writings)(
  "archives named as %s has them",
  (type, nameArchive) => {
    it("are served under their usual names, and by the registry protocol under their own", async () => {
      const release = await registry.publish({
        type,
        version: "1.0.0",
        platforms,
        nameArchive,
      });
      const document = await mirror.get(`${mirrored}${type}/1.0.0.json`);
      const { archives } = document.json() as {
        archives: Record<string, { url: string; hashes: string[] }>;
      };
      expect(Object.keys(archives).toSorted()).toEqual(platforms.toSorted());
      for (const platform of platforms) {
        const { sha256, bytes, os, arch } = release.archive(platform);
        const url = `terraform-provider-${type}_1.0.0_${platform}.zip`;
        expect(archives[platform]).toMatchObject({ url });
        expect(archives[platform]?.hashes).toContain(`zh:${sha256}`);
        const archive = await mirror.get(`${mirrored}${type}/${url}`);
        expect(archive.body.equals(bytes)).toBe(true);
        const answer = await mirror.get(
          `${published}${type}/1.0.0/download/${os}/${arch}`,
        );
        expect(answer.json()).toMatchObject({
          filename: nameArchive(platform),
          shasum: sha256,
        });
        const { download_url: place } = answer.json() as {
          download_url: string;
        };
        expect(new URL(place).pathname.endsWith(`/${url}`)).toBe(true);
      }
    });
  },
);

it("an unusual name takes nothing away from other versions", async () => {
  const type = "mixed";
  const nameArchive = (p: string) =>
    `terraform-provider-${type}_v1.1.0_${p}.zip`;
  await registry.publish({ type, version: "1.0.0", platforms });
  await registry.publish({ type, version: "1.1.0", platforms, nameArchive });
  const index = await mirror.get(`${mirrored}${type}/index.json`);
  expect(index.json()).toEqual({ versions: { "1.0.0": {}, "1.1.0": {} } });
  for (const version of ["1.0.0", "1.1.0"])
    expect(
      (await mirror.get(`${mirrored}${type}/${version}.json`)).status,
    ).toBe(200);
});

it("a name of another version stays refused, though it is signed", async () => {
  const type = "other";
  const nameArchive = (p: string) =>
    `terraform-provider-${type}_v1.0.0_${p}.zip`;
  await registry.publish({ type, version: "1.0.1", platforms, nameArchive });
  const answer = await mirror.get(`${mirrored}${type}/1.0.1.json`);
  expect(answer.status).toBe(502);
});

it("the usual name counts beside others, and of two others neither", async () => {
  const type = "twins";
  const other = "b".repeat(64);
  const name = `terraform-provider-${type}`;
  const release = await registry.publish({
    ...{ type, version: "1.0.0", platforms },
    editChecksums: (text) =>
      `${text}${other}  ${name}-v1.0.0-linux-amd64-debug.zip\n` +
      `${other}  ${name}_1.0.0_linux_arm_small.zip\n` +
      `${"c".repeat(64)}  ${name}_1.0.0_linux_arm_large.zip\n`,
  });
  const document = await mirror.get(`${mirrored}${type}/1.0.0.json`);
  const { archives } = document.json() as {
    archives: Record<string, { hashes: string[] }>;
  };
  expect(Object.keys(archives).toSorted()).toEqual(platforms.toSorted());
  expect(archives.linux_amd64?.hashes).toContain(
    `zh:${release.archive("linux_amd64").sha256}`,
  );
});

describe("a list with parts that are malformed", () => {
  it("keeps the others, and drops hints for themselves", async () => {
    for (const version of ["1.0.0", "1.1.0", "1.2.0"])
      await registry.publish({ type: "parts", version, platforms });
    registry.script(
      "versions",
      faults.body(
        JSON.stringify({
          versions: [
            { version: "1.0.0", protocols: ["5.0", "1; mode=block", 5] },
            {
              version: "1.1.0",
              protocols: "5.0",
              platforms: [{ os: "linux" }],
            },
            { version: "1.2.0", protocols: { a: 1 }, platforms: 3 },
            { version: 2 },
            { versions: "3.0.0" },
            "4.0.0",
            null,
            [],
          ],
          warnings: [5],
        }),
      ),
    );
    const index = await mirror.get(`${mirrored}parts/index.json`);
    expect(index.json()).toEqual({
      versions: { "1.0.0": {}, "1.1.0": {}, "1.2.0": {} },
    });
    const list = await mirror.get(`${published}parts/versions`);
    const { versions } = list.json() as {
      versions: { version: string; protocols: string[] }[];
    };
    expect(
      versions.map(({ version, protocols }) => [version, protocols]),
    ).toEqual([
      ["1.2.0", []],
      ["1.1.0", []],
      ["1.0.0", ["5.0"]],
    ]);
    registry.heal();
  });
});
