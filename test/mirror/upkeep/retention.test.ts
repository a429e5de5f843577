import { blobOf } from "../../running-mirror.ts";
import { readMetric, runCommand } from "../../scenes/provider-requests.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { askDatabase, countRecords } from "../../store/stores.ts";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { barrier } from "../../fakes/barrier.ts";
import { openOnce } from "../../fakes/fetching.ts";
import type { Release } from "../../fakes/release.ts";
import { originsOf } from "../../origins.ts";
import {
  scratch,
  startMirror,
  type Answer,
  type RunningMirror,
} from "../../running-mirror.ts";
import { digest, sha256Of } from "../../scenes/failing-origin.ts";
import { namespaceOf, plantRecords } from "../../scenes/planted-records.ts";
import { startOrigin } from "../../scenes/world.ts";

const KiB = 1024;
const size = 400 * KiB;

let names = 0;

const { authority, registry } = await startOrigin();
afterEach(() => registry.heal());

/** A mirror that has room for a little more than two archives. */
async function start(
  directory = scratch("retention"),
  maxSize = "1000KiB",
  minFree: number | string = 0,
): Promise<RunningMirror> {
  return startMirror({
    directory,
    config: {
      ...originsOf(authority, registry),
      storage: { directory, maxSize, minFree },
      freshness: { versions: "0" },
    },
  });
}

async function publish(version = "1.0.0", bytes = size): Promise<Release> {
  return registry.publish({
    type: `kept${(names += 1)}`,
    version,
    size: bytes,
  });
}

function pathOf(release: Release): string {
  const { filename } = release.archive("linux_amd64");
  return `/providers/registry.terraform.io/acme/${release.type}/${filename}`;
}

async function take(mirror: RunningMirror, release: Release): Promise<Answer> {
  const answer = await mirror.get(pathOf(release));
  expect([answer.status, answer.complete]).toEqual([200, true]);
  expect(digest(answer.body)).toBe(sha256Of(release));
  return answer;
}

function isStored(mirror: RunningMirror, release: Release): boolean {
  return existsSync(blobOf(mirror, sha256Of(release)));
}

/** A client has its last byte before the disk has. */
async function keep(mirror: RunningMirror, release: Release): Promise<void> {
  await take(mirror, release);
  const stored = () => isStored(mirror, release);
  await expect.poll(stored, { timeout: 20_000 }).toBe(true);
}

async function expectRefused(
  mirror: RunningMirror,
  release: Release,
): Promise<void> {
  const answer = await mirror.get(pathOf(release));
  expect([answer.status, answer.complete]).toEqual([503, true]);
  expect(answer.headers["retry-after"]).toMatch(/^[1-5]$/);
  expect(answer.json()).toMatchObject({ code: "store-full" });
}

function storedOf(mirror: RunningMirror, releases: readonly Release[]) {
  return releases.map((release) => isStored(mirror, release));
}

describe("storage.maxSize", () => {
  it("makes room by what was used least recently, and says how much is used", async () => {
    const mirror = await start();
    const [a, b, c] = [await publish(), await publish(), await publish()];
    await keep(mirror, a);
    await keep(mirror, b);
    await take(mirror, a);
    await keep(mirror, c);
    expect(storedOf(mirror, [a, b, c])).toEqual([true, false, true]);
    await keep(mirror, b);
    expect(storedOf(mirror, [a, b, c])).toEqual([false, true, true]);
    // A file is there a moment before it is counted.
    await expect
      .poll(() => readMetric(mirror, "provender_store_archives"))
      .toBe(2);
    const bytes = await readMetric(mirror, "provender_store_bytes");
    expect(bytes).toBe(
      b.archive("linux_amd64").bytes.length +
        c.archive("linux_amd64").bytes.length,
    );
    expect(
      await readMetric(mirror, 'provender_archives_total{outcome="evicted"}'),
    ).toBe(2);
    await mirror.stop();
  });

  it.each(["stop", "kill"] as const)(
    "remembers what was used over a %s",
    async (end) => {
      const first = await start();
      const [a, b, c] = [await publish(), await publish(), await publish()];
      await keep(first, a);
      await keep(first, b);
      const before = Date.now();
      await take(first, a);
      // It is written every few seconds.
      const lastUse = () => {
        const text = "SELECT at FROM uses WHERE sha256 = ?";
        const layout = layOutStore(first.directory);
        return Number(askDatabase(layout, text, sha256Of(a))[0]?.at ?? 0);
      };
      await expect
        .poll(lastUse, { timeout: 20_000 })
        .toBeGreaterThanOrEqual(before);
      await first[end]();
      const second = await start(first.directory);
      await keep(second, c);
      expect(storedOf(second, [a, b, c])).toEqual([true, false, true]);
      await second.stop();
    },
  );

  it("refuses what is larger than all of it, and evicts nothing for that", async () => {
    const mirror = await start();
    const [a, b] = [await publish(), await publish()];
    await keep(mirror, a);
    await keep(mirror, b);
    const large = await publish("1.0.0", 1500 * KiB);
    await expectRefused(mirror, large);
    expect(storedOf(mirror, [a, b, large])).toEqual([true, true, false]);
    await mirror.stop();
  });

  it("never takes what a client is reading, nor the last copy of what its origin no longer lists", async () => {
    const mirror = await start(undefined, "32MiB");
    const large = () => publish("1.0.0", 12 * 1024 * KiB);
    const [a, b, c] = [await large(), await large(), await large()];
    await keep(mirror, a);
    registry.withdraw(a);
    await mirror.get(
      `/providers/registry.terraform.io/acme/${a.type}/index.json`,
    );
    await keep(mirror, b);
    const reader = await openOnce(new URL(pathOf(b), mirror.url).href, {
      ca: readFileSync(mirror.caFile, "utf8"),
    });
    await expectRefused(mirror, c);
    expect(storedOf(mirror, [a, b, c])).toEqual([true, true, false]);
    reader.destroy();
    await expect
      .poll(async () => (await mirror.get(pathOf(c))).status, {
        timeout: 20_000,
      })
      .toBe(200);
    await keep(mirror, c);
    expect(storedOf(mirror, [a, b, c])).toEqual([true, false, true]);
    await mirror.stop();
  });
});

describe("an archive that is only announced", () => {
  async function startFull() {
    const mirror = await start();
    const kept = [await publish(), await publish()];
    for (const release of kept) await keep(mirror, release);
    return { mirror, kept };
  }

  // Records of an empty database take 168 KiB, so that 31 KiB are left.
  it.each([0, 1, 16 * KiB])(
    "deletes no other archive after %i bytes of it, and is stored when complete",
    async (bytes) => {
      const { mirror, kept } = await startFull();
      const large = await publish("1.0.0", 800 * KiB);
      const held = barrier();
      registry.script("archive", held.afterBytes(bytes));
      const answer = mirror.get(pathOf(large));
      await held.reached;
      await mirror.get("/metrics");
      expect(storedOf(mirror, kept)).toEqual([true, true]);
      registry.heal();
      held.release();
      expect((await answer).complete).toBe(true);
      await keep(mirror, large);
      expect(storedOf(mirror, kept)).toEqual([false, false]);
      await mirror.stop();
    },
  );

  it("keeps to storage.maxSize beside others that come at once", async () => {
    const { mirror } = await startFull();
    const many = await Promise.all(Array.from({ length: 8 }, () => publish()));
    // What is on its way cannot leave for another, which is refused then.
    const answers = many.map((release) => mirror.get(pathOf(release)));
    for (const { status, complete } of await Promise.all(answers))
      expect([
        [200, true],
        [503, true],
      ]).toContainEqual([status, complete]);
    const last = await publish();
    await keep(mirror, last);
    const bytes = await readMetric(mirror, "provender_store_bytes");
    expect(bytes).toBeLessThanOrEqual(1000 * KiB);
    expect(isStored(mirror, last)).toBe(true);
    await mirror.stop();
  });
});

describe("storage.minFree", () => {
  it("is answered with the reason where the disk has less left, and what is stored is served", async () => {
    const [a, b] = [await publish(), await publish()];
    const before = await start(undefined, "unlimited");
    await keep(before, a);
    await before.stop();
    const mirror = await start(before.directory, "unlimited", "1000TiB");
    await take(mirror, a);
    await expectRefused(mirror, b);
    expect(storedOf(mirror, [a, b])).toEqual([true, false]);
    expect(
      await readMetric(mirror, 'provender_failures_total{code="store-full"}'),
    ).toBe(1);
    await mirror.stop();
  });
});

describe("records of what was seen", () => {
  /** Three archives, and namespaces that were seen, which take more than 2 MiB. */
  async function fill() {
    const mirror = await start(undefined, "unlimited");
    const { directory, configFile } = mirror;
    const releases = [];
    for (let count = 0; count < 3; count++) {
      const release = await publish("1.0.0", 1024 * KiB);
      await keep(mirror, release);
      releases.push(release);
    }
    await mirror.stop();
    const seen = Array.from({ length: 12_000 }, (_, n) => `seen${n}`);
    plantRecords(directory, seen.map(namespaceOf));
    const namespaces = countRecords(directory, "namespaces");
    return { directory, configFile, releases, namespaces };
  }

  it("count for storage.maxSize: archives are evicted for them, and they for nothing", async () => {
    const { directory, releases, namespaces } = await fill();
    const [oldest, ...others] = releases.map((release) =>
      blobOf({ directory }, sha256Of(release)),
    );
    // Longer ago than an import takes to name what it brought.
    const longAgo = new Date(Date.now() - 90 * 3_600_000);
    utimesSync(oldest ?? "", longAgo, longAgo);
    askDatabase(layOutStore(directory), "DELETE FROM uses");
    const mirror = await start(directory, "5MiB");
    await expect
      .poll(() => existsSync(oldest ?? ""), { timeout: 20_000 })
      .toBe(false);
    expect(others.filter((path) => !existsSync(path))).toEqual([]);
    const used = await readMetric(mirror, "provender_store_bytes");
    const records = await readMetric(mirror, "provender_store_record_bytes");
    expect(used + records).toBeLessThanOrEqual(5 * 1024 * KiB);
    expect(countRecords(directory, "namespaces")).toBe(namespaces);
    await mirror.stop();
  });

  it("count for prune, which says so when they alone are more than may be", async () => {
    const { directory, configFile, releases, namespaces } = await fill();
    const config = readFileSync(configFile, "utf8");
    writeFileSync(configFile, config.replace("unlimited", "2MiB"));
    const run = await runCommand({ configFile }, "prune");
    expect(run.status).toBe(1);
    expect(run.stdout).toMatch(/they are what was seen and decided/);
    expect(countRecords(directory, "namespaces")).toBe(namespaces);
    for (const release of releases)
      expect(existsSync(blobOf({ directory }, sha256Of(release)))).toBe(false);
  });
});

it("what killed processes left in staging goes at the next start", async () => {
  const first = await start();
  await first.stop();
  const left = join(first.directory, "staging", "folder-left");
  mkdirSync(left);
  writeFileSync(join(left, "repository"), "x");
  const mirror = await start(first.directory);
  expect(existsSync(left)).toBe(false);
  await mirror.stop();
});
