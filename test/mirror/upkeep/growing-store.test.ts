import { blobOf } from "../../running-mirror.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { originsOf } from "../../origins.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import { sha256Of } from "../../scenes/failing-origin.ts";
import { namespaceOf, plantRecords } from "../../scenes/planted-records.ts";
import { askDatabase, countRecords } from "../../store/stores.ts";
import {
  readMetric,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import type { Release } from "../../fakes/release.ts";
import { startOrigin } from "../../scenes/world.ts";

const MiB = 1024 * 1024;
const hours = 60 * 60 * 1000;

let names = 0;

const { authority, registry } = await startOrigin();

function start(
  directory: string,
  storage: Readonly<Record<string, unknown>> = {},
): Promise<RunningMirror> {
  return startMirror({
    directory,
    config: {
      ...originsOf(authority, registry),
      freshness: { versions: "0" },
      storage: { directory, minFree: 0, ...storage },
    },
  });
}

function publish(size: number): Promise<Release> {
  names++;
  return registry.publish({ type: `grown${names}`, version: "1.0.0", size });
}

async function keep(mirror: RunningMirror, release: Release): Promise<void> {
  const ask = requestsFor(mirror, release.type);
  expect(await ask.delivery("1.0.0")).toBe("200");
  const path = blobOf(mirror, sha256Of(release));
  await expect.poll(() => existsSync(path), { timeout: 20_000 }).toBe(true);
  await expect
    .poll(async () => (await ask.version("1.0.0")).body.toString())
    .toContain("h1:");
}

const times = <T>(count: number, make: (n: number) => T) =>
  Array.from({ length: count }, (_, n) => make(n));

/** Longer ago than an import takes to name what it brought. */
function age(path: string, by: number): void {
  const at = new Date(Date.now() - by);
  utimesSync(path, at, at);
}

/** Three archives, and namespaces that were seen, which take more than 2 MiB. */
async function filled() {
  const directory = scratch("grown");
  const mirror = await start(directory);
  const releases = [await publish(MiB), await publish(MiB), await publish(MiB)];
  for (const release of releases) await keep(mirror, release);
  await mirror.stop();
  plantRecords(
    directory,
    times(12_000, (n) => namespaceOf(`seen${n}`)),
  );
  return { directory, releases, configFile: mirror.configFile };
}

describe("records of what was seen", () => {
  it("count for storage.maxSize: archives are evicted for them, and they for nothing", async () => {
    const { directory, releases } = await filled();
    const before = countRecords(directory, "namespaces");
    const [oldest, ...others] = releases;
    if (oldest === undefined) throw new Error("there are three");
    age(blobOf({ directory }, sha256Of(oldest)), 90 * hours);
    askDatabase(layOutStore(directory), "DELETE FROM uses");
    const mirror = await start(directory, { maxSize: 5 * MiB });
    await expect
      .poll(() => existsSync(blobOf({ directory }, sha256Of(oldest))), {
        timeout: 20_000,
      })
      .toBe(false);
    for (const release of others)
      expect(existsSync(blobOf({ directory }, sha256Of(release)))).toBe(true);
    const used = await readMetric(mirror, "provender_store_bytes");
    const records = await readMetric(mirror, "provender_store_record_bytes");
    expect(used + records).toBeLessThanOrEqual(5 * MiB);
    expect(countRecords(directory, "namespaces")).toBe(before);
    await mirror.stop();
  });

  it("count for prune, which says so when they alone are more than may be", async () => {
    const { directory, releases, configFile } = await filled();
    const before = countRecords(directory, "namespaces");
    const config = readFileSync(configFile, "utf8");
    writeFileSync(
      configFile,
      config.replace(/minFree: 0/, `minFree: 0\n  maxSize: ${2 * MiB}`),
    );
    const run = await runCommand({ configFile }, "prune");
    expect(run.status).toBe(1);
    expect(run.stdout).toMatch(/they are what was seen and decided/);
    expect(countRecords(directory, "namespaces")).toBe(before);
    for (const release of releases)
      expect(existsSync(blobOf({ directory }, sha256Of(release)))).toBe(false);
  });
});

describe("what killed processes left in staging", () => {
  it("goes at the next start", async () => {
    const directory = scratch("grown");
    const first = await start(directory);
    await first.stop();
    const left = join(directory, "staging", "folder-left");
    mkdirSync(left);
    writeFileSync(join(left, "repository"), "x");
    const mirror = await start(directory);
    expect(existsSync(left)).toBe(false);
    await mirror.stop();
  });
});
