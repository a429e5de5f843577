import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createReadStream,
  globSync,
  mkdirSync,
  rmSync,
  statSync,
  watch,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { program } from "../../running-mirror.ts";
import { startOrigin } from "../../scenes/world.ts";
import { connectedSite, exportBundle, offlineSite } from "./bundles.ts";
import { endingWithTests } from "../../child-process.ts";
import { listRecords } from "../../store/stores.ts";

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

it(
  "goes on with a large bundle after being killed ten times, and comes to the right end",
  { timeout: 1_800_000 },
  async () => {
    const stored: number[] = [];
    for (let turn = 0; turn < kills; turn++) {
      // Somewhere else in the work each time.
      const writes = 2 + Math.floor((turn * archiveMiB) / 4);
      const signal = await killedImport(writes);
      stored.push((await listBlobs()).length);
      if (signal === null) break;
      expectRecordsStored();
    }
    console.log(`archives stored after each kill: ${stored.join(", ")}`);
    expect(stored).toHaveLength(kills);
    expect(stored).toEqual(stored.toSorted((a, b) => a - b));

    const last = await site.run("import", bundle);
    expect(last.stderr).toContain("0 releases refused");
    expect(last.status).toBe(0);
    expect((await listBlobs()).toSorted()).toEqual(digests.toSorted());
    expectRecordsStored();
    expect(releaseRecords()).toHaveLength(versions.length);
    const before = site.snapshot();
    const again = await site.run("import", bundle);
    expect(again.stderr).toContain(`0 archives imported, ${versions.length}`);
    expect(site.snapshot()).toEqual(before);
  },
);

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

/** The digests under which blobs are stored, each compared with its content. */
async function listBlobs(): Promise<readonly string[]> {
  const cwd = join(site.directory, "blobs");
  const paths = globSync("v1/sha256/*/*", { cwd });
  for (const path of paths) {
    const hash = createHash("sha256");
    for await (const piece of createReadStream(join(cwd, path)))
      hash.update(piece as Buffer);
    expect(hash.digest("hex")).toBe(basename(path));
  }
  return paths.map((path) => basename(path));
}

function releaseRecords(): readonly string[] {
  return listRecords(site.directory).flatMap(([name, text]) =>
    name.startsWith("releases/") ? [text.slice(text.indexOf(" ") + 1)] : [],
  );
}

/** A record never speaks of what is not stored. */
function expectRecordsStored(): void {
  for (const body of releaseRecords()) {
    const { evidence } = JSON.parse(body) as {
      evidence: readonly { document: string }[];
    };
    const sha256 = evidence[0]?.document.slice(0, 64) ?? "";
    const blob = join("v1", "sha256", sha256.slice(0, 2), sha256);
    expect(statSync(join(site.directory, "blobs", blob)).size).toBeGreaterThan(
      0,
    );
  }
}
