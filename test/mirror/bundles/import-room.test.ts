import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { scratch } from "../../running-mirror.ts";
import { connectedSite, offlineSite, type Site } from "./bundles.ts";
import { startOrigin } from "../../scenes/world.ts";

const KiB = 1024;
const names = ["one", "two", "three"].map((type) => `acme/${type}`);

const { authority, registry } = await startOrigin();
for (const type of ["one", "two", "three", "old", "older"])
  await registry.publish({ type, version: "1.0.0", size: 400 * KiB });
const exporter = connectedSite(authority, registry);
const bundle = join(scratch("bundle"), "all.tar");
const args = ["--platform", "linux_amd64", "--to", bundle, ...names];
expect((await exporter.run("export", ...args)).status).toBe(0);

const limit = (site: Site, storage: Readonly<Record<string, unknown>>) => {
  const config = parse(readFileSync(site.configFile, "utf8")) as object;
  const { directory } = site;
  writeFileSync(
    site.configFile,
    stringify({ ...config, storage: { directory, minFree: 0, ...storage } }),
  );
  return site;
};

async function siteWith(...types: readonly string[]): Promise<Site> {
  const site = connectedSite(authority, registry);
  const specs = types.map((type) => `acme/${type}`);
  const args = ["--platform", "linux_amd64", ...specs];
  if (types.length > 0)
    expect((await site.run("prefetch", ...args)).status).toBe(0);
  return site;
}

const blobsOf = (site: Site) =>
  [...site.snapshot().keys()].filter((path) => path.startsWith("blobs/"));

/** One sentence, and the count of what was done: nothing. */
function expectRefusal({
  status,
  stderr,
}: {
  status: number | null;
  stderr: string;
}) {
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /^provender: The mirror cannot store the \d+ bytes of the bundle \(.*\): .*\.$/m,
  );
  expect(stderr).toContain(": 0 releases, 0 archives imported");
  expect(stderr).not.toContain("   at ");
}

describe("a bundle that has no room", () => {
  it("under storage.maxSize is refused before anything leaves or is written", async () => {
    const site = limit(await siteWith("old", "older"), { maxSize: "1000KiB" });
    const before = site.snapshot();
    expectRefusal(await site.run("import", bundle));
    expect(site.snapshot()).toEqual(before);
  });

  it("under storage.minFree is refused likewise", async () => {
    const site = limit(offlineSite(), { minFree: "1000TiB" });
    expectRefusal(await site.run("import", bundle));
    expect(blobsOf(site)).toEqual([]);
  });
});

describe("a bundle that has room", () => {
  it("once others leave is imported whole, and what it speaks of stays", async () => {
    const site = await siteWith("old", "one", "older");
    limit(site, { maxSize: "1500KiB" });
    expect(blobsOf(site)).toHaveLength(3);
    const run = await site.run("import", bundle);
    expect([run.status, run.stderr]).toEqual([
      0,
      expect.stringContaining("3 releases, 2 archives imported, 1 already"),
    ]);
    const held = new Set(blobsOf(site));
    for (const path of blobsOf(exporter)) expect(held).toContain(path);
    expect(held.size).toBe(3);
  });

  it("is imported again where all of it is stored, however full the store is", async () => {
    const site = offlineSite();
    expect((await site.run("import", bundle)).status).toBe(0);
    limit(site, { maxSize: "100KiB", minFree: "1000TiB" });
    expect((await site.run("import", bundle)).status).toBe(0);
    expect(blobsOf(site)).toHaveLength(3);
  });
});
