import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { startMirror } from "../../running-mirror.ts";
import { startOrigin } from "../../scenes/world.ts";

const archives = 100;
const hasLimits = spawnSync("prlimit", ["--version"]).status === 0;
if (!hasLimits) console.error("NOT TESTED with few descriptors: no prlimit.");

it.runIf(hasLimits)(
  "with 256 descriptors serves 100 clients of 100 archives, cold",
  { timeout: 120_000 },
  async () => {
    const { registry, config } = await startOrigin();
    const releases = [];
    for (let n = 0; n < archives; n++)
      releases.push(
        await registry.publish({ type: `widget${n}`, version: "1.0.0" }),
      );
    const mirror = await startMirror({
      // As long as it takes: this counts descriptors, not time.
      config,
      limits: { answer: 60_000, firstByte: 60_000 },
    });
    const pid = String(mirror.process.pid);
    const limited = spawnSync("prlimit", ["--pid", pid, "--nofile=256:256"]);
    expect(limited.status).toBe(0);
    const answers = await Promise.all(
      releases.map(async (release, n) => {
        const { filename, bytes } = release.archive("linux_amd64");
        const folder = `providers/registry.terraform.io/acme/widget${n}/`;
        const { status, body } = await mirror.get(folder + filename);
        return status === 200 && body.equals(bytes)
          ? "right"
          : `${status} ${body.toString("utf8", 0, 500)}`;
      }),
    );
    expect(answers).toEqual(Array(archives).fill("right"));
  },
);
