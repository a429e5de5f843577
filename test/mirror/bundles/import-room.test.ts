import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { scratch } from "../../running-mirror.ts";
import { connectedSite, offlineSite, type Site } from "./bundles.ts";
import { startOrigin } from "../../scenes/world.ts";

const { authority, registry } = await startOrigin();
for (const type of ["one", "two", "three", "old", "older"])
  await registry.publish({ type, version: "1.0.0", size: 400 * 1024 });
const linux = ["--platform", "linux_amd64"];
const exporter = connectedSite(authority, registry);
const bundle = join(scratch("bundle"), "all.tar");
const specs = ["acme/one", "acme/two", "acme/three"];
const made = await exporter.run("export", ...linux, "--to", bundle, ...specs);
expect(made.status).toBe(0);

function limit(site: Site, limits: Readonly<Record<string, unknown>>): void {
  const config = parse(readFileSync(site.configFile, "utf8")) as object;
  const storage = { directory: site.directory, minFree: 0, ...limits };
  writeFileSync(site.configFile, stringify({ ...config, storage }));
}

async function siteWith(...types: readonly string[]): Promise<Site> {
  const site = connectedSite(authority, registry);
  const specs = types.map((type) => `acme/${type}`);
  expect((await site.run("prefetch", ...linux, ...specs)).status).toBe(0);
  return site;
}

it.each([
  ["storage.maxSize", { maxSize: "1000KiB" }],
  ["storage.minFree", { minFree: "1000TiB" }],
])(
  "a bundle without room under %s is refused before anything leaves or is written",
  async (_, limits) => {
    const site = await siteWith("old", "older");
    limit(site, limits);
    const before = site.snapshot();
    const { status, stderr } = await site.run("import", bundle);
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^provender: The mirror cannot store the \d+ bytes of the bundle \(.*\): .*\.$/m,
    );
    expect(stderr).toContain(": 0 releases, 0 archives imported");
    expect(site.snapshot()).toEqual(before);
  },
);

it("a bundle that has room once others leave is imported whole, and what it speaks of stays", async () => {
  const site = await siteWith("old", "one", "older");
  limit(site, { maxSize: "1500KiB" });
  expect(site.blobs()).toHaveLength(3);
  const { status, stderr } = await site.run("import", bundle);
  expect(stderr).toContain("3 releases, 2 archives imported, 1 already");
  expect(status).toBe(0);
  expect(site.blobs()).toEqual(exporter.blobs());
});

it("a bundle of which all is stored is imported again, however full the store is", async () => {
  const site = offlineSite();
  expect((await site.run("import", bundle)).status).toBe(0);
  limit(site, { maxSize: "100KiB", minFree: "1000TiB" });
  expect((await site.run("import", bundle)).status).toBe(0);
  expect(site.blobs()).toHaveLength(3);
});
