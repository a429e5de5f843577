import { hash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "vitest";
import type { Release } from "../fakes/release.ts";
import { connectedSite, type Site } from "../mirror/bundles/bundles.ts";
import { blobOf } from "../running-mirror.ts";
import { startOrigin } from "./world.ts";

/** A registry with releases, and stores that have all of them. */
export async function startFilledSites(count: number) {
  const { authority, registry } = await startOrigin();
  const releases: Release[] = [];
  const common = { version: "1.0.0", size: 100_000 };
  for (let n = 0; n < count; n++)
    releases.push(await registry.publish({ ...common, type: `demo${n}` }));
  const specs = releases.map(({ type }) => `acme/${type}`);
  const fill = async () => {
    const site = connectedSite(authority, registry);
    const linux = ["--platform", "linux_amd64"];
    const run = await site.run("prefetch", ...linux, ...specs);
    expect(run.status, run.stderr).toBe(0);
    return site;
  };
  return { releases, fill };
}

/** An archive that nothing names. */
export function plantOrphan(site: Site, content: string): string {
  const sha256 = hash("sha256", content);
  const path = blobOf(site, sha256);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return sha256;
}
