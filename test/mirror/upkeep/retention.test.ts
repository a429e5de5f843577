import {
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Sha256 } from "../../../src/address/hash.ts";
import { receiveWhole } from "../../../src/mirror/archives/room.ts";
import { Retention } from "../../../src/mirror/upkeep/retention.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { digestOf } from "../../fakes/archive.ts";
import { type Release, sha256Of } from "../../fakes/release.ts";
import { blobOf, scratch, startMirror } from "../../running-mirror.ts";
import { failing } from "../../scenes/failing.ts";
import { namespaceOf, plantRecords } from "../../scenes/planted-records.ts";
import {
  outcomeOf,
  readMetric,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { startOrigin } from "../../scenes/world.ts";
import {
  askDatabase,
  countRecords,
  makeLayout,
  openBlobs,
} from "../../store/stores.ts";
import { randomArchive } from "../archives/archives.ts";

afterEach(() => void vi.useRealTimers());

/** A store of at most 1,000 bytes, and what becomes of archives in it; each step is a second. */
async function prepare({ maxSize = 1_000, minFree = 0 } = {}) {
  vi.useFakeTimers({ toFake: ["Date"] });
  const blobs = openBlobs(await makeLayout());
  const irreplaceable = new Set<Sha256>();
  const records = { bytes: 0 };
  const retention = new Retention({
    ...{ blobs, limits: { maxSize, minFree }, offline: false },
    listIrreplaceable: () => Promise.resolve(irreplaceable),
    onEvicted: () => undefined,
    measureRecords: () => Promise.resolve(records.bytes),
  });
  const reserve: Retention["reserve"] = (...asked) =>
    retention.reserve(...asked);
  const begin = (sha256: Sha256) => {
    vi.advanceTimersByTime(1_000);
    return blobs.usage.begin(sha256);
  };
  /** Receives an archive, with a pause after some bytes of it. */
  const receive = async (
    { bytes, digest: sha256 } = randomArchive(400),
    after = 0,
    pause: () => unknown = () => undefined,
  ) => {
    vi.advanceTimersByTime(1_000);
    const named = { subject: "it", size: bytes.length };
    await receiveWhole({ blobs, reserve }, named, async (spool, append) => {
      await append(bytes.subarray(0, after));
      await pause();
      await append(bytes.subarray(after));
      await blobs.commit(spool, sha256);
    });
    return sha256;
  };
  const stored = async (...all: readonly Sha256[]) => {
    const sizes = await Promise.all(all.map((one) => blobs.size(one)));
    return sizes.map((size) => size !== undefined);
  };
  return { blobs, retention, irreplaceable, records, begin, receive, stored };
}

const full = failing("store-full");

describe("a store with a limit", () => {
  it.each([0, 1, 200])(
    "evicts what was used least recently for the bytes that came, and nothing for those that are announced: after %i",
    async (after) => {
      const { begin, receive, stored } = await prepare();
      const [a, b] = [await receive(), await receive()];
      begin(a)();
      const pause = async () =>
        expect(await stored(a, b)).toEqual([true, true]);
      const c = await receive(undefined, after, pause);
      expect(await stored(a, b, c)).toEqual([true, false, true]);
      const large = receive(randomArchive(1_001));
      await expect(large).rejects.toThrow(full);
      expect(await stored(a, c)).toEqual([true, true]);
    },
  );

  it("never evicts what is read, nor what no origin could give again", async () => {
    const { irreplaceable, begin, receive, stored } = await prepare();
    const [a, b] = [await receive(), await receive()];
    irreplaceable.add(a);
    const end = begin(b);
    await expect(receive()).rejects.toThrow(full);
    expect(await stored(a, b)).toEqual([true, true]);
    end();
    const c = await receive();
    expect(await stored(a, b, c)).toEqual([true, false, true]);
  });

  it("keeps to it beside archives that come at once: what is on its way makes no room for another", async () => {
    const { blobs, receive, stored } = await prepare();
    const many = Array.from({ length: 8 }, () => receive());
    const ends = await Promise.allSettled(many);
    const failed = ends.filter((end) => end.status === "rejected");
    for (const { reason } of failed) expect(reason).toEqual(full);
    expect((await blobs.count()).bytes).toBeLessThanOrEqual(1_000);
    expect(await stored(await receive())).toEqual([true]);
    expect((await blobs.count()).bytes).toBeLessThanOrEqual(1_000);
  });

  it("counts records for it, and evicts archives for them", async () => {
    const { retention, records, receive, stored } = await prepare();
    const [a, b] = [await receive(), await receive()];
    expect(await retention.readFigures()).toMatchObject({ bytes: 800 });
    records.bytes = 400;
    await retention.tend();
    expect(await stored(a, b)).toEqual([false, true]);
    expect(await retention.readFigures()).toMatchObject({
      ...{ archives: 1, bytes: 400, recordBytes: 400 },
    });
  });

  it("stores nothing where the disk would have less left than it shall", async () => {
    const { receive } = await prepare({ maxSize: Infinity, minFree: 1e18 });
    await expect(receive()).rejects.toThrow(full);
  });
});

const KiB = 1024;
const { registry, config } = await startOrigin();

it("a daemon keeps to storage.maxSize over a kill, evicts for its records, and prune says when they alone are too many", async () => {
  const directory = scratch("retention");
  const start = (maxSize: string) => {
    const storage = { directory, maxSize, minFree: 0 };
    const freshness = { versions: "0" };
    return startMirror({
      directory,
      config: { ...config, storage, freshness },
    });
  };
  let mirror = await start("1000KiB");
  const publish = (type: string, size = 400 * KiB) =>
    registry.publish({ type, version: "1.0.0", size });
  const ask = ({ type }: Release) => requestsFor(mirror, type);
  const take = async (release: Release) => {
    const { complete, body } = await ask(release).archive("1.0.0");
    expect([complete, digestOf(body)]).toEqual([true, sha256Of(release)]);
  };
  const isStored = (release: Release) =>
    existsSync(blobOf(mirror, sha256Of(release)));
  /** A client has its last byte before the disk has. */
  const keep = async (release: Release) => {
    await take(release);
    await expect.poll(() => isStored(release)).toBe(true);
  };
  const [a, b, c] = await Promise.all(
    ["a", "b", "c"].map((one) => publish(one)),
  );
  if (!a || !b || !c) throw new Error("three were published");
  const stored = () => [a, b, c].map(isStored);
  await keep(a);
  await keep(b);
  const before = Date.now();
  await take(a);
  // It is written every few seconds.
  const lastUse = () => {
    const text = "SELECT at FROM uses WHERE sha256 = ?";
    const [use] = askDatabase(layOutStore(directory), text, sha256Of(a));
    return Number(use?.at ?? 0);
  };
  await expect
    .poll(lastUse, { timeout: 20_000 })
    .toBeGreaterThanOrEqual(before);
  await mirror.kill();
  const left = join(directory, "staging", "folder-left");
  mkdirSync(left);

  mirror = await start("1000KiB");
  expect(existsSync(left)).toBe(false);
  await keep(c);
  expect(stored()).toEqual([true, false, true]);
  // A file is there a moment before it is counted.
  await expect
    .poll(() => readMetric(mirror, "provender_store_archives"))
    .toBe(2);
  const evicted = 'provender_archives_total{outcome="evicted"}';
  expect(await readMetric(mirror, evicted)).toBe(1);
  registry.withdraw(a);
  await ask(a).index();
  await keep(b);
  expect(stored()).toEqual([true, true, false]);
  const refused = await ask(await publish("large", 1500 * KiB)).archive(
    "1.0.0",
  );
  expect(outcomeOf(refused)).toBe("503 store-full");
  expect(refused.headers["retry-after"]).toMatch(/^[1-5]$/);
  const failures = 'provender_failures_total{code="store-full"}';
  expect(await readMetric(mirror, failures)).toBe(1);
  await mirror.stop();

  const seen = Array.from({ length: 12_000 }, (_, n) => `seen${n}`);
  plantRecords(directory, seen.map(namespaceOf));
  const namespaces = countRecords(directory, "namespaces");
  const { size } = statSync(layOutStore(directory).database);
  const maxSize = `${Math.round(size / KiB) + 600}KiB`;
  mirror = await start(maxSize);
  await expect.poll(() => isStored(b), { timeout: 20_000 }).toBe(false);
  const { configFile } = mirror;
  await mirror.stop();
  expect(stored()).toEqual([true, false, false]);
  const text = readFileSync(configFile, "utf8");
  writeFileSync(configFile, text.replace(maxSize, "1MiB"));
  const prune = await runCommand({ configFile }, "prune");
  expect(prune.status).toBe(1);
  expect(prune.stdout).toMatch(/they are what was seen and decided/);
  expect(countRecords(directory, "namespaces")).toBe(namespaces);
});
