import { describe, expect, it } from "vitest";
import { startWorld } from "../../scenes/world.ts";

const base = "/providers/registry.terraform.io/acme/demo/";
const platforms = ["linux_amd64", "darwin_arm64", "windows_amd64"];

const { registry, mirror } = await startWorld();
const release = await registry.publish({
  namespace: "acme",
  type: "demo",
  version: "1.2.3",
  platforms,
  size: 200_000,
});

function archiveName(platform: string): string {
  return `terraform-provider-demo_1.2.3_${platform}.zip`;
}

describe("the network mirror", () => {
  it("gives zh of every platform without asking for an archive", async () => {
    const answer = await mirror.get(`${base}1.2.3.json`);
    const { archives } = answer.json() as {
      archives: Record<string, { url: string; hashes: string[] }>;
    };
    expect(Object.keys(archives)).toEqual([...platforms].sort());
    for (const platform of platforms) {
      expect(archives[platform]?.url).toBe(archiveName(platform));
      expect(archives[platform]?.hashes).toContain(
        `zh:${release.archive(platform).sha256}`,
      );
    }
    expect(registry.requests.count("archive")).toBe(0);
  });
});
