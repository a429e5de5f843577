import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { program } from "../../running-mirror.ts";
import { startOrigin } from "../../scenes/world.ts";
import { connectedSite, exportBundle, offlineSite } from "./bundles.ts";
import { endingWithTests } from "../../child-process.ts";

vi.setConfig({ testTimeout: 300_000 });

const versions = Array.from({ length: 12 }, (_, index) => `1.${index}.0`);
/** An import writes one archive after the other. */
const archiveMiB = 16;
const kills = 10;

const { authority, registry } = await startOrigin();
const from = connectedSite(authority, registry);
for (const version of versions)
  await registry.publish({ version, size: archiveMiB * 1024 * 1024 });
const linux = ["--platform", "linux_amd64"];
const bundle = await exportBundle(from, ...linux, "acme/widget@all");
const site = offlineSite();
afterAll(() => {
  for (const folder of [from.directory, dirname(bundle), site.directory])
    rmSync(folder, { recursive: true });
});

/** SIGKILL after so many writes to files in staging; null when it ended before. */
async function killedImport(writes: number): Promise<NodeJS.Signals | null> {
  const staging = join(site.directory, "staging");
  mkdirSync(staging, { recursive: true });
  const args = [program, "import", "--config", site.configFile, bundle];
  const child = spawn(...endingWithTests(process.execPath, args), {
    stdio: "ignore",
  });
  let seen = 0;
  const watcher = watch(staging, () => {
    if (++seen === writes) child.kill("SIGKILL");
  });
  const [, signal] = (await once(child, "exit")) as [
    number | null,
    NodeJS.Signals | null,
  ];
  watcher.close();
  return signal;
}

/** Each archive that is stored is good, and those of every recorded package are among them. */
async function countHeld() {
  expect(await site.run("verify")).toMatchObject({ status: 0 });
  const { stdout } = await site.run("list", "--json");
  const { packages } = JSON.parse(stdout) as {
    packages: { stored: boolean }[];
  };
  expect(packages.filter(({ stored }) => !stored)).toEqual([]);
  return { stored: site.blobs().length, recorded: packages.length };
}

it(
  "goes on with a large bundle after being killed ten times, and comes to the right end",
  { timeout: 1_800_000 },
  async () => {
    const counts: number[] = [];
    for (let turn = 0; turn < kills; turn++) {
      // Somewhere else in the work each time.
      const writes = 2 + Math.floor((turn * archiveMiB) / 4);
      const signal = await killedImport(writes);
      counts.push((await countHeld()).stored);
      if (signal === null) break;
    }
    console.log(`archives stored after each kill: ${counts.join(", ")}`);
    expect(counts).toHaveLength(kills);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));

    const last = await site.run("import", bundle);
    expect(last.stderr).toContain("0 releases refused");
    expect(last.status).toBe(0);
    const { length } = versions;
    expect(await countHeld()).toEqual({ stored: length, recorded: length });
    expect(site.blobs()).toEqual(from.blobs());
    const before = site.snapshot();
    const again = await site.run("import", bundle);
    expect(again.stderr).toContain(`0 archives imported, ${length}`);
    expect(site.snapshot()).toEqual(before);
  },
);
