import { blobOf } from "../running-mirror.ts";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "vitest";
import { createAuthority, type Authority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { connectedSite, type Site } from "../mirror/bundles/bundles.ts";

/** A registry with releases, and stores that have all of them. */
export class FilledSites {
  readonly authority: Authority;
  readonly registry: Registry;
  readonly releases: readonly Release[];

  private constructor(
    authority: Authority,
    registry: Registry,
    releases: readonly Release[],
  ) {
    this.authority = authority;
    this.registry = registry;
    this.releases = releases;
  }

  static async start(count: number): Promise<FilledSites> {
    const authority = await createAuthority();
    const registry = await startRegistry({ authority });
    const releases: Release[] = [];
    const common = { version: "1.0.0", size: 100_000 };
    for (let n = 0; n < count; n++)
      releases.push(await registry.publish({ ...common, type: `demo${n}` }));
    return new FilledSites(authority, registry, releases);
  }

  /** A store with everything in it. */
  async fill(): Promise<Site> {
    const site = connectedSite(this.authority, this.registry);
    const specs = this.releases.map(({ type }) => `acme/${type}`);
    const run = await site.run(
      ...["prefetch", "--platform", "linux_amd64", ...specs],
    );
    expect([run.status, run.stderr]).toEqual([0, expect.anything()]);
    return site;
  }
}

/** An archive that nothing names. */
export function plantOrphan(site: Site, content: string): string {
  const bytes = Buffer.from(content);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const path = blobOf(site, sha256);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return sha256;
}
