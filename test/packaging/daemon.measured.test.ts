import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { beforeAll, expect, it } from "vitest";
import { writeBundle } from "../../packaging/bundle.ts";
import { scratch, startDaemon } from "../running-mirror.ts";
import { readUnitEnvironment } from "../scenes/unit-environment.ts";

let program: string;
const home = scratch("home");
const file = join(home, "config.yaml");

/** As the unit starts it. */
function start() {
  const env = { PATH: process.env.PATH, HOME: home, ...readUnitEnvironment() };
  const args = [program, "serve", "--config", file];
  return startDaemon(process.execPath, args, { env });
}

function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}

beforeAll(async () => {
  const folder = join(scratch("bundle"), "app");
  await writeBundle(folder, "1.2.3-test");
  program = join(folder, "main.js");
  const storage = { directory: join(home, "store") };
  writeFileSync(file, stringify({ listen: { port: 0 }, storage }));
  // Makes the certificates.
  await (await start()).stop();
}, 60_000);

it("serves at most 0.6 seconds after its start", async () => {
  const readyAfter = async () => {
    const begun = performance.now();
    const daemon = await start();
    const took = performance.now() - begun;
    await daemon.stop();
    return took;
  };
  // Several starts, because other load on the machine slows single ones.
  await expect.poll(readyAfter, { timeout: 20_000 }).toBeLessThanOrEqual(600);
});

it("settles below 90 MiB", async () => {
  const daemon = await start();
  await expect
    .poll(() => residentMiB(daemon.process.pid ?? 0), {
      timeout: 20_000,
      interval: 200,
    })
    .toBeLessThanOrEqual(90);
  await daemon.stop();
});
