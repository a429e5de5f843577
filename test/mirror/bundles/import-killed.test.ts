import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { program } from "../../running-mirror.ts";
import { startOrigin } from "../../scenes/world.ts";
import { connectedSite, exportBundle, offlineSite } from "./bundles.ts";
import { endingWithTests } from "../../child-process.ts";

vi.setConfig({ testTimeout: 300_000 });

const MiB = 1024 * 1024;
const versions = Array.from({ length: 12 }, (_, index) => `1.${index}.0`);
/** An import writes one archive after the other. */
const archiveMiB = 16;
const kills = 10;

const { authority, registry } = await startOrigin();
const from = connectedSite(authority, registry);
const digests: string[] = [];
for (const version of versions) {
  const release = await registry.publish({ version, size: archiveMiB * MiB });
  digests.push(release.archive("linux_amd64").sha256);
}
const bundle = await exportBundle(
  from,
  ...["--platform", "linux_amd64", "acme/widget@all"],
);
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

/** The archives that are stored, each with the content of its name, and those that a record speaks of, which are among them. */
function readHeld() {
  const files = [...site.snapshot()];
  for (const [path, written] of files)
    if (path.startsWith("blobs/"))
      expect(written.split(" ")[0]).toBe(basename(path));
  const recorded = files.flatMap(([path, body]) => {
    if (!path.startsWith("records/releases/")) return [];
    const { evidence } = JSON.parse(body.slice(body.indexOf(" "))) as {
      evidence: readonly { document: string }[];
    };
    return [evidence[0]?.document.slice(0, 64)];
  });
  const stored = site.blobs();
  expect(stored).toEqual(expect.arrayContaining(recorded));
  return { stored, recorded };
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
      counts.push(readHeld().stored.length);
      if (signal === null) break;
    }
    console.log(`archives stored after each kill: ${counts.join(", ")}`);
    expect(counts).toHaveLength(kills);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));

    const last = await site.run("import", bundle);
    expect(last.stderr).toContain("0 releases refused");
    expect(last.status).toBe(0);
    const { stored, recorded } = readHeld();
    expect(stored.toSorted()).toEqual(digests.toSorted());
    expect(recorded.toSorted()).toEqual(digests.toSorted());
    const before = site.snapshot();
    const again = await site.run("import", bundle);
    expect(again.stderr).toContain(`0 archives imported, ${versions.length}`);
    expect(site.snapshot()).toEqual(before);
  },
);
