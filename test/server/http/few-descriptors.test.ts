import { spawnSync } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startMirror } from "../../running-mirror.ts";

const archives = 100;
const hasLimits = spawnSync("prlimit", ["--version"]).status === 0;
if (!hasLimits) console.error("NOT TESTED with few descriptors: no prlimit.");

it.runIf(hasLimits)(
  "with 256 descriptors serves 100 clients of 100 archives, cold",
  { timeout: 120_000 },
  async () => {
    const authority = await createAuthority();
    const registry = await startRegistry({ authority });
    onTestFinished(() => registry.stop());
    const releases = [];
    for (let n = 0; n < archives; n++)
      releases.push(
        await registry.publish({ type: `widget${n}`, version: "1.0.0" }),
      );
    const mirror = await startMirror({
      // As long as it takes: this counts descriptors, not time.
      config: originsOf(authority, registry),
      limits: { answer: 60_000, firstByte: 60_000 },
    });
    onTestFinished(() => mirror.kill());
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
