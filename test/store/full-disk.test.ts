import { spawnSync } from "node:child_process";
import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { digestOf } from "../fakes/archive.ts";
import { type Release, sha256Of } from "../fakes/release.ts";
import {
  blobOf,
  scratch,
  startMirror,
  type RunningMirror,
} from "../running-mirror.ts";
import { requestsFor } from "../scenes/provider-requests.ts";
import { startOrigin } from "../scenes/world.ts";

/** 1 for a full run: 64 MiB of disk, an archive of 100 MiB. */
const scale = Number(process.env.PROVENDER_DISK_SCALE ?? 0.25);
const MiB = 1024 * 1024 * scale;
const disk = `${64 * MiB}`;

const { registry, config: origins } = await startOrigin();
const mounted: string[] = [];
const unmount = () => {
  for (const one of mounted.splice(0)) spawnSync("umount", ["-l", one]);
};
afterAll(unmount);

/** A file system of its own; `options` as of tmpfs(5), such as `size=64m` or `nr_inodes=200`. */
function mount(options: string): string | undefined {
  const directory = scratch("small-disk");
  const args = ["-t", "tmpfs", "-o", options, "tmpfs", directory];
  if (spawnSync("mount", args).status !== 0) return undefined;
  mounted.push(directory);
  return directory;
}

const canMount = mount("size=1m") !== undefined;
unmount();
if (!canMount) console.log("SKIPPED: a tmpfs cannot be mounted here");

function start(directory = "") {
  return startMirror({
    directory,
    config: {
      ...origins,
      listen: { port: 0, tls: "off" },
      storage: { directory, minFree: 4 * MiB },
      freshness: { versions: "0" },
    },
  });
}

let names = 0;
async function publish(size: number): Promise<Release> {
  const type = `full${(names += 1)}`;
  return registry.publish({ type, version: "1.0.0", size });
}

/** Right and whole, or a clean error within 10 s. */
async function ask(mirror: RunningMirror, release: Release): Promise<string> {
  const start = performance.now();
  const answer = await requestsFor(mirror, release.type).archive("1.0.0");
  if (answer.status === 200 && answer.complete) {
    expect(digestOf(answer.body)).toBe(sha256Of(release));
    return "right";
  }
  expect([answer.status, answer.complete]).toEqual([503, true]);
  expect(performance.now() - start).toBeLessThan(10_000);
  return "503";
}

/** What 20 clients get at once. */
const askAll = async (mirror: RunningMirror, release: Release) =>
  new Set(
    await Promise.all(Array.from({ length: 20 }, () => ask(mirror, release))),
  );

const isStored = (mirror: RunningMirror, release: Release) =>
  existsSync(blobOf(mirror, sha256Of(release)));

/** A client has its last byte before the disk has. */
async function keep(mirror: RunningMirror, release: Release): Promise<void> {
  const stored = async () => {
    expect(await ask(mirror, release)).toBe("right");
    return isStored(mirror, release);
  };
  await expect.poll(stored, { timeout: 20_000 }).toBe(true);
}

const readiness = async (mirror: RunningMirror) =>
  (await mirror.get("/readyz")).status;

describe.runIf(canMount)("a small disk", () => {
  it("refuses an archive that is larger to 20 clients, keeps serving what it has, and stores again once there is room", async () => {
    const mirror = await start(mount(`size=${disk}`));
    const small = await publish(MiB);
    await keep(mirror, small);
    const large = await publish(100 * MiB);
    const asked = [askAll(mirror, large), askAll(mirror, small)];
    const [refused, served] = [new Set(["503"]), new Set(["right"])];
    expect(await Promise.all(asked)).toEqual([refused, served]);
    expect(isStored(mirror, large)).toBe(false);
    // Another program fills the disk to the last byte.
    const filler = join(mirror.directory, "filler");
    const { bavail, bsize } = statfsSync(mirror.directory);
    try {
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
    } catch (error) {
      // The daemon writes, too, and what there was has been filled by then.
      expect(error).toMatchObject({ code: "ENOSPC" });
    }
    const next = await publish(2 * MiB);
    // A release that cannot be pinned is not answered.
    expect(await ask(mirror, next)).toBe("503");
    expect(await ask(mirror, small)).toBe("right");
    const { index, version } = requestsFor(mirror, next.type);
    for (const answer of [await index(), await version("1.0.0")])
      expect(answer.status).toBe(503);
    expect(isStored(mirror, next)).toBe(false);
    expect(await readiness(mirror)).toBe(503);
    await mirror.stop();
    const again = await start(mirror.directory);
    expect(await ask(again, small)).toBe("right");
    expect(await ask(again, next)).toBe("503");
    rmSync(filler);
    expect(await readiness(again)).toBe(200);
    await keep(again, next);
    await again.stop();
  });

  it("has room made on it by eviction", async () => {
    const mirror = await start(mount(`size=${disk}`));
    for (let n = 0; n < 4; n++) await keep(mirror, await publish(20 * MiB));
    await mirror.stop();
  });

  it("without inodes serves what it has and refuses what is new, and stores again once there are some", async () => {
    const mirror = await start(mount(`size=${disk},nr_inodes=120`));
    const old = await publish(MiB);
    await keep(mirror, old);
    const filler = (n: number) => join(mirror.directory, `filler${n}`);
    let files = 0;
    try {
      for (; files < 1000; files++) writeFileSync(filler(files), "");
    } catch {
      // None is left.
    }
    expect(files).toBeLessThan(120);
    const fresh = await publish(3 * MiB);
    expect(await askAll(mirror, fresh)).toEqual(new Set(["503"]));
    expect(await ask(mirror, old)).toBe("right");
    expect(isStored(mirror, fresh)).toBe(false);
    expect(await readiness(mirror)).toBe(503);
    for (let n = 0; n < files; n++) rmSync(filler(n));
    await keep(mirror, fresh);
    await mirror.stop();
  });
});
