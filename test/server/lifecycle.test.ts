import { rename } from "node:fs/promises";
import { Agent } from "node:https";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { barrier } from "../fakes/barrier.ts";
import { all, chunked, type Fault } from "../fakes/faults.ts";
import {
  openAnswer,
  readAnswer,
  startMirror,
  type RunningMirror,
} from "../running-mirror.ts";
import { awaitMessage } from "../scenes/log-lines.ts";
import { openConnection } from "../scenes/raw-connection.ts";
import { startOrigin } from "../scenes/world.ts";

const base = "/providers/registry.terraform.io/acme/demo/";
const archive = `${base}terraform-provider-demo_1.2.3_linux_amd64.zip`;
const half = 500_000;

const { registry, config } = await startOrigin();
const release = await registry.publish({
  type: "demo",
  version: "1.2.3",
  size: 2 * half,
});

afterEach(() => registry.heal());

/** A download that waits half-way, and its client, which has the headers and wants to keep the connection. */
async function startDownload(mirror: RunningMirror, fault: Fault = (r) => r) {
  const gate = barrier();
  registry.script("archive", all(gate.afterBytes(half), fault));
  const ca = readFileSync(mirror.caFile, "utf8");
  const agent = new Agent({ ca, keepAlive: true });
  const response = await openAnswer(new URL(archive, mirror.url), agent);
  return { gate, answer: readAnswer(response) };
}

it.each(["", "blobs"])(
  "readiness is lost while the storage directory's %s is away, and comes back",
  async (folder) => {
    const mirror = await startMirror({ config });
    const path = join(mirror.directory, folder);
    const sent = {
      "cache-control": "no-store",
      "content-type": "application/json",
    };
    const ready = await mirror.get("/readyz");
    expect(ready.json()).toEqual({ status: "ready" });
    expect(ready.headers).toMatchObject(sent);

    await rename(path, `${mirror.directory}.away`);
    const away = await mirror.get("/readyz");
    expect(away.status).toBe(503);
    expect(away.json()).toMatchObject({ code: "not-ready" });
    expect(away.body.toString()).toContain("ENOENT");
    expect(away.body.toString()).not.toContain(mirror.directory);
    expect(away.headers["retry-after"]).toMatch(/^[1-5]$/);
    const alive = await mirror.get("/healthz");
    expect(alive).toMatchObject({ status: 200, headers: sent });

    await rename(`${mirror.directory}.away`, path);
    expect((await mirror.get("/readyz")).status).toBe(200);
  },
);

describe("SIGTERM", () => {
  it("lets a running download finish, takes no new connections, and ends with status 0, however often it comes", async () => {
    const mirror = await startMirror({ config, limits: { stop: 60_000 } });
    const { gate, answer } = await startDownload(mirror);

    const stopped = mirror.stop();
    await awaitMessage(mirror, "stopping");
    await expect(openConnection(mirror)).rejects.toThrow(
      /ECONNREFUSED|ECONNRESET/,
    );
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
      mirror.process.kill(signal);
    expect(mirror.process.exitCode).toBeNull();
    gate.release();

    const { body, complete } = await answer;
    expect(complete).toBe(true);
    expect(body.equals(release.archive("linux_amd64").bytes)).toBe(true);
    // Well before limits.stop, which is longer than a test may take.
    expect(await stopped).toBe(0);
  });

  it.each<[string, Fault]>([
    ["with a known length", (reply) => reply],
    ["of unknown length", chunked],
  ])("cuts a download %s that outlasts limits.stop", async (_, fault) => {
    const mirror = await startMirror({ config, limits: { stop: 300 } });
    const { answer } = await startDownload(mirror, fault);

    const before = performance.now();
    expect(await mirror.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(10_000);

    const { body, complete } = await answer;
    expect(complete).toBe(false);
    expect(body.length).toBeLessThanOrEqual(half);
  });
});
