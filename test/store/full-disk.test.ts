import { blobOf } from "../running-mirror.ts";
import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Release } from "../fakes/release.ts";
import {
  startMirror,
  type Answer,
  type RunningMirror,
  scratch,
} from "../running-mirror.ts";
import { digest, sha256Of } from "../scenes/failing-origin.ts";
import { startOrigin } from "../scenes/world.ts";
import { spawnSync } from "node:child_process";

/** Small file system of its own. */
interface SmallDisk {
  readonly directory: string;
  unmount(): void;
}

/** `options` as of tmpfs(5), such as `size=64m` or `nr_inodes=200`. */
function mountSmallDisk(options: string): SmallDisk | undefined {
  const directory = scratch("small-disk");
  const args = ["-t", "tmpfs", "-o", options, "tmpfs", directory];
  if (spawnSync("mount", args).status !== 0) return undefined;
  return {
    directory,
    unmount: () => void spawnSync("umount", ["-l", directory]),
  };
}

/** 1 for a full run: 64 MiB of disk, an archive of 100 MiB. */
const scale = Number(process.env.PROVENDER_DISK_SCALE ?? 0.25);
const MiB = 1024 * 1024 * scale;
const disk = `${64 * MiB}`;
const clients = 20;

const { registry, config: origins } = await startOrigin();
const disks: SmallDisk[] = [];
let names = 0;
afterAll(() => {
  for (const mounted of disks) mounted.unmount();
});

const canMount = (() => {
  const tried = mountSmallDisk("size=1m");
  tried?.unmount();
  return tried !== undefined;
})();
if (!canMount) console.log("SKIPPED: a tmpfs cannot be mounted here");

function mount(options: string): string {
  const mounted = mountSmallDisk(options);
  if (mounted === undefined) throw new Error("it was mounted before");
  disks.push(mounted);
  return mounted.directory;
}

const start = (directory: string, storage: Record<string, unknown> = {}) =>
  startMirror({
    directory,
    config: {
      ...origins,
      listen: { port: 0, tls: "off" },
      storage: { directory, minFree: 4 * MiB, ...storage },
      freshness: { versions: "0" },
    },
  });

async function publish(size: number): Promise<Release> {
  const type = `full${(names += 1)}`;
  return registry.publish({ type, version: "1.0.0", size });
}

function pathOf(release: Release, document?: string): string {
  const name = document ?? release.archive("linux_amd64").filename;
  return `/providers/registry.terraform.io/acme/${release.type}/${name}`;
}

/** Right and whole, or a clean error within 10 s. */
function judge(answer: Answer, release: Release, took: number): string {
  if (answer.status === 200 && answer.complete) {
    expect(digest(answer.body)).toBe(sha256Of(release));
    return "right";
  }
  expect([answer.status, answer.complete]).toEqual([503, true]);
  expect(took).toBeLessThan(10_000);
  return "503";
}

async function ask(mirror: RunningMirror, release: Release): Promise<string> {
  const start = performance.now();
  const answer = await mirror.get(pathOf(release));
  return judge(answer, release, performance.now() - start);
}

function isStored(mirror: RunningMirror, release: Release): boolean {
  return existsSync(blobOf(mirror, sha256Of(release)));
}

/** A client has its last byte before the disk has. */
async function keep(mirror: RunningMirror, release: Release): Promise<void> {
  const stored = async () => {
    expect(await ask(mirror, release)).toBe("right");
    return isStored(mirror, release);
  };
  await expect.poll(stored, { timeout: 20_000 }).toBe(true);
}

describe.runIf(canMount)("a small disk", { timeout: 120_000 }, () => {
  it("refuses an archive that is larger to 20 clients, keeps serving what it has, and stores again once there is room", async () => {
    const mirror = await start(mount(`size=${disk}`));
    const small = await publish(MiB);
    await keep(mirror, small);
    const large = await publish(100 * MiB);
    const asked = Array.from({ length: clients }, () => ask(mirror, large));
    const cached = Array.from({ length: clients }, () => ask(mirror, small));
    expect(await Promise.all(asked)).toEqual(asked.map(() => "503"));
    expect(await Promise.all(cached)).toEqual(cached.map(() => "right"));
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
    for (const document of ["index.json", "1.0.0.json"])
      expect((await mirror.get(pathOf(next, document))).status).toBe(503);
    expect(isStored(mirror, next)).toBe(false);
    expect((await mirror.get("/readyz")).status).toBe(503);
    await mirror.stop();
    const again = await start(mirror.directory);
    expect(await ask(again, small)).toBe("right");
    expect(await ask(again, next)).toBe("503");
    rmSync(filler);
    expect((await again.get("/readyz")).status).toBe(200);
    await keep(again, next);
    await again.stop();
  });

  it.each([
    ["storage.maxSize", { maxSize: 60 * MiB }],
    ["storage.minFree", {}],
  ])("makes room by eviction for %s", async (_, storage) => {
    const mirror = await start(mount(`size=${disk}`), storage);
    for (let n = 0; n < 4; n++) {
      const release = await publish(20 * MiB);
      await keep(mirror, release);
    }
    await mirror.stop();
  });
});

describe.runIf(canMount)("a disk without inodes", { timeout: 60_000 }, () => {
  it("serves what it has and refuses what is new, and stores again once there are some", async () => {
    const mirror = await start(mount(`size=${disk},nr_inodes=120`));
    const old = await publish(MiB);
    await keep(mirror, old);
    let files = 0;
    try {
      for (; files < 1000; files++)
        writeFileSync(join(mirror.directory, `filler${files}`), "");
    } catch {
      // None is left.
    }
    expect(files).toBeLessThan(120);
    const fresh = await publish(3 * MiB);
    const asked = Array.from({ length: clients }, () => ask(mirror, fresh));
    expect(await Promise.all(asked)).toEqual(asked.map(() => "503"));
    expect(await ask(mirror, old)).toBe("right");
    expect(isStored(mirror, fresh)).toBe(false);
    expect((await mirror.get("/readyz")).status).toBe(503);
    for (let n = 0; n < files; n++)
      rmSync(join(mirror.directory, `filler${n}`));
    await keep(mirror, fresh);
    await mirror.stop();
  });
});
