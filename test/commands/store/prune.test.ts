import { blobOf } from "../../running-mirror.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { askDatabase } from "../../store/stores.ts";
import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Site } from "../../mirror/bundles/bundles.ts";
import { sha256Of } from "../../scenes/failing-origin.ts";
import { startFilledSites, plantOrphan } from "../../scenes/filled-sites.ts";

const scene = await startFilledSites(4);
const releases = scene.releases;

describe("provender prune", () => {
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

  /** Used in the order of the releases, an hour apart. */
  async function filled(maxSize: string) {
    const site = await scene.fill();
    const config = {
      ...site.config,
      storage: { directory: site.directory, maxSize },
    };
    for (const [n, release] of releases.entries()) {
      const at = hoursAgo(100 - n);
      utimesSync(blobOf(site, sha256Of(release)), at, at);
    }
    askDatabase(layOutStore(site.directory), "DELETE FROM uses");
    writeFileSync(site.configFile, JSON.stringify(config));
    return site;
  }

  const storedOf = (site: Site) =>
    releases.map((release) => existsSync(blobOf(site, sha256Of(release))));

  it("removes the least recently used above storage.maxSize, and with --dry-run only names them", async () => {
    const site = await filled("250KiB");
    const dry = await site.run("prune", "--dry-run");
    expect(dry.status).toBe(0);
    expect(dry.stdout).toContain("terraform-provider-demo0_1.0.0");
    expect(dry.stdout).toMatch(/ archives would leave, /);
    expect(storedOf(site)).not.toContain(false);
    const json = await site.run("prune", "--json");
    const { removed, dryRun } = JSON.parse(json.stdout) as {
      removed: { sha256: string; because: string }[];
      dryRun: boolean;
    };
    expect(dryRun).toBe(false);
    const gone = storedOf(site).filter((stored) => !stored).length;
    expect(gone).toBeGreaterThan(0);
    expect(removed.map(({ sha256 }) => sha256)).toEqual(
      releases.slice(0, gone).map(sha256Of),
    );
    expect(storedOf(site).slice(gone)).not.toContain(false);
    const again = await site.run("prune");
    expect(again.stdout).toContain("0 of ");
  });

  it("removes orphans, but not what an import may just have brought", async () => {
    const site = await filled("1GiB");
    const old = plantOrphan(site, "old");
    utimesSync(blobOf(site, old), hoursAgo(2), hoursAgo(2));
    const young = plantOrphan(site, "young");
    expect((await site.run("prune")).status).toBe(0);
    expect(existsSync(blobOf(site, old))).toBe(false);
    expect(existsSync(blobOf(site, young))).toBe(true);
    expect(storedOf(site)).not.toContain(false);
  });
});
