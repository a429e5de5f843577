import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { barrier } from "../fakes/barrier.ts";
import { openOnce } from "../fakes/fetching.ts";
import { startRegistry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { startMirror } from "../running-mirror.ts";
import { readUnitEnvironment } from "../scenes/unit-environment.ts";

const clients = 200;
const size = 64 * 1024 * 1024;
const MiB = 1024 * 1024;

it(
  "serves 200 cold clients of one archive from one request to the origin, the first one leaving at 10 %",
  { timeout: 400_000 },
  async () => {
    const authority = await createAuthority();
    const registry = await startRegistry({ authority });
    onTestFinished(() => registry.stop());
    const release = await registry.publish({ version: "1.0.0", size });
    const { bytes, sha256, filename } = release.archive("linux_amd64");
    const mirror = await startMirror({
      config: originsOf(authority, registry),
      env: readUnitEnvironment(),
    });
    onTestFinished(() => mirror.kill());
    const path = `providers/registry.terraform.io/acme/widget/${filename}`;
    const ca = readFileSync(mirror.caFile, "utf8");
    const open = () => openOnce(new URL(path, mirror.url).href, { ca });
    const tenth = Math.ceil(bytes.length / 10);
    const held = barrier();
    registry.script("archive", held.afterBytes(Math.ceil(bytes.length / 2)));

    const first = await open();
    const opening = Array.from({ length: clients - 1 }, open);
    await takeAtLeast(first, tenth);
    first.destroy();
    const others = await Promise.all(opening);
    const start = performance.now();
    const digests = others.map(digestOf);
    held.release();
    const right = (await Promise.all(digests)).filter((got) => got === sha256);
    const seconds = (performance.now() - start) / 1000;
    const peak = peakMemory(mirror.process.pid);
    console.log(
      `${right.length} of ${others.length} right digests in ${seconds.toFixed(1)} s, ` +
        `${registry.requests.count("archive")} archive request, peak ${(peak / MiB).toFixed(0)} MiB`,
    );

    expect(registry.requests.count("archive")).toBe(1);
    expect(right.length).toBe(clients - 1);
    expect(peak).toBeLessThanOrEqual(300 * MiB);
    const warm = await digestOf(await open());
    expect(warm).toBe(sha256);
    expect(registry.requests.count("archive")).toBe(1);
    expect(await mirror.stop()).toBe(0);
  },
);

async function takeAtLeast(
  response: IncomingMessage,
  size: number,
): Promise<void> {
  let taken = 0;
  for await (const piece of response.iterator({ destroyOnReturn: false })) {
    taken += (piece as Buffer).length;
    if (taken >= size) return;
  }
}

async function digestOf(response: IncomingMessage): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of response) hash.update(piece as Buffer);
  return hash.digest("hex");
}

/** Bytes of the largest resident set so far (proc_pid_status(5), VmHWM). */
function peakMemory(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return 1024 * Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]);
}
