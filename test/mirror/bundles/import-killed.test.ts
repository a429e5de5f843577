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
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { parseProviderAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import { ensureArchive } from "../../../src/mirror/providers/ensured-archive.ts";
import { openMirror } from "../../../src/wiring/open-mirror.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { program } from "../../running-mirror.ts";
import {
  connectedSite,
  exportBundle,
  offlineSite,
  type Site,
} from "./bundles.ts";
import { endingWithTests } from "../../child-process.ts";
import { listRecords } from "../../store/stores.ts";

vi.setConfig({ testTimeout: 300_000 });

const MiB = 1024 * 1024;
/** 2048 for a full run, which takes minutes and 8 GiB of disk. */
const size = Number(process.env.PROVENDER_BUNDLE_MIB ?? 192) * MiB;
const versions = Array.from({ length: 12 }, (_, index) => `1.${index}.0`);
const kills = 10;
/** An import writes one after the other. */
const archiveMiB = Math.ceil(size / versions.length / MiB);
const provider = parseProviderAddress("acme/widget");
const linux = { os: "linux", arch: "amd64" };

const folders: string[] = [];
let large: Awaited<ReturnType<typeof makeLargeBundle>>;
beforeAll(async () => {
  large = await makeLargeBundle();
}, 600_000);
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

it(
  "goes on with a large bundle after being killed ten times, and comes to the right end",
  { timeout: 1_800_000 },
  async () => {
    const { bundle, digests } = large;
    expect(statSync(bundle).size).toBeGreaterThan(size);
    const site = offlineSite();
    folders.push(site.directory);
    const stored: number[] = [];
    for (let turn = 0; turn < kills; turn++) {
      // Somewhere else in the work each time.
      const writes = 2 + Math.floor((turn * archiveMiB) / 4);
      const signal = await killedImport(site, bundle, writes);
      stored.push((await blobsOf(site)).length);
      if (signal === null) break;
      expectRecordsStored(site);
    }
    console.log(`archives stored after each kill: ${stored.join(", ")}`);
    expect(stored).toHaveLength(kills);
    expect(stored).toEqual(stored.toSorted((a, b) => a - b));

    const last = await site.run("import", bundle);
    expect(last.stderr).toContain("0 releases refused");
    expect(last.status).toBe(0);
    expect((await blobsOf(site)).toSorted()).toEqual(digests.toSorted());
    expectRecordsStored(site);
    expect(recordsOf(site)).toHaveLength(versions.length);
    const before = site.snapshot();
    const again = await site.run("import", bundle);
    expect(again.stderr).toContain(`0 archives imported, ${versions.length}`);
    expect(site.snapshot()).toEqual(before);
  },
);

/** One release after the other, so that no two of them are in memory. */
async function makeLargeBundle() {
  const authority = await createAuthority();
  const registry = await startRegistry({ authority });
  const each = Math.ceil(size / versions.length);
  const site = connectedSite(authority, registry, {
    config: { freshness: { versions: "0" } },
  });
  folders.push(site.directory);
  const core = await openMirror(loadConfiguration({ file: site.configFile }));
  const digests: string[] = [];
  for (const version of versions) {
    const release = await registry.publish({ version, size: each });
    digests.push(release.archive("linux_amd64").sha256);
    const address = { provider, version: parseVersion(version) };
    const found = await core.providers.recallPackage(address, linux);
    await (
      await ensureArchive(core, found)
    ).done;
    registry.withdraw(release);
  }
  await core.close();
  const specs = versions.map((version) => `acme/widget@${version}`);
  const bundle = await exportBundle(
    site,
    "--platform",
    "linux_amd64",
    ...specs,
  );
  folders.push(dirname(bundle));
  await registry.stop();
  return { site, bundle, digests };
}

/** SIGKILL after so many writes to files in staging; null when it ended before. */
async function killedImport(
  site: Site,
  bundle: string,
  writes: number,
): Promise<NodeJS.Signals | null> {
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
async function blobsOf({ directory }: Site): Promise<readonly string[]> {
  const cwd = join(directory, "blobs");
  const paths = globSync("v1/sha256/*/*", { cwd });
  for (const path of paths) {
    const hash = createHash("sha256");
    for await (const piece of createReadStream(join(cwd, path)))
      hash.update(piece as Buffer);
    expect(hash.digest("hex")).toBe(basename(path));
  }
  return paths.map((path) => basename(path));
}

function recordsOf({ directory }: Site): readonly string[] {
  return listRecords(directory).flatMap(([name, text]) =>
    name.startsWith("releases/") ? [text.slice(text.indexOf(" ") + 1)] : [],
  );
}

/** A record never speaks of what is not stored. */
function expectRecordsStored(site: Site): void {
  for (const body of recordsOf(site)) {
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
