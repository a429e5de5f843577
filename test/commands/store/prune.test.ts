import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import { blobOf } from "../../running-mirror.ts";
import { sha256Of } from "../../fakes/release.ts";
import { startFilledSites, plantOrphan } from "../../scenes/filled-sites.ts";
import { askDatabase } from "../../store/stores.ts";

it("prune removes orphans, but not what an import may just have brought, and the least recently used above storage.maxSize; with --dry-run it only names them", async () => {
  const { releases, fill } = await startFilledSites(4);
  const site = await fill();
  const digests = releases.map(sha256Of);
  const use = (sha256: string, hoursAgo: number) => {
    const at = new Date(Date.now() - hoursAgo * 3_600_000);
    utimesSync(blobOf(site, sha256), at, at);
  };
  for (const [n, sha256] of digests.entries()) use(sha256, 100 - n);
  askDatabase(layOutStore(site.directory), "DELETE FROM uses");
  const [old, young] = [plantOrphan(site, "old"), plantOrphan(site, "young")];
  use(old, 2);
  const storage = { directory: site.directory, maxSize: "250KiB" };
  writeFileSync(site.configFile, JSON.stringify({ ...site.config, storage }));
  const isStored = (sha256: string) => existsSync(blobOf(site, sha256));

  const dry = await site.run("prune", "--dry-run");
  expect(dry.status).toBe(0);
  expect(dry.stdout).toContain("terraform-provider-demo0_1.0.0");
  expect(dry.stdout).toMatch(/ archives would leave, /);
  expect([old, young, ...digests].every(isStored)).toBe(true);

  const { stdout } = await site.run("prune", "--json");
  const gone = digests.filter((sha256) => !isStored(sha256));
  expect(gone.length).toBeGreaterThan(0);
  expect(gone).toEqual(digests.slice(0, gone.length));
  const used = { because: "least recently used" };
  expect(JSON.parse(stdout)).toMatchObject({
    dryRun: false,
    removed: [
      { sha256: old, because: "orphan" },
      ...gone.map((sha256) => ({ sha256, ...used })),
    ],
  });
  expect([old, young].map(isStored)).toEqual([false, true]);
  expect((await site.run("prune")).stdout).toContain("0 of ");
});
