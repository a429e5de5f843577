import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { runCommand } from "../running-command.ts";
import {
  scratch,
  startMirror,
  type Answer,
  type RunningMirror,
} from "../running-mirror.ts";
import { outcomeOf } from "../scenes/provider-requests.ts";
import { canBeOthers, user } from "../scenes/other-user.ts";
import { TrustScene, signer } from "../scenes/trust-scene.ts";
import { requestsFor } from "../scenes/provider-requests.ts";

/** Milliseconds from the end of a command until the daemon has to answer otherwise. */
const atMost = 1_000;

let scene: TrustScene;
/** Asks no origin, so that only what commands do changes its answers. */
let daemon: RunningMirror;

beforeAll(async () => {
  if (!canBeOthers) return;
  scene = await TrustScene.start();
  daemon = await startMirror({
    config: { ...scene.config, offline: true },
    user,
  });
});
afterAll(async () => {
  if (!canBeOthers) return;
  await daemon.stop();
  await scene.stop();
});

/** A command as root on the daemon's store, with settings of its own beside the scene's. */
async function command(
  settings: Readonly<Record<string, unknown>>,
  ...args: readonly string[]
): Promise<void> {
  const file = join(scratch("owner"), "provender.yaml");
  const own = parse(readFileSync(daemon.configFile, "utf8")) as object;
  const storage = { directory: daemon.directory, minFree: 0 };
  writeFileSync(
    file,
    stringify({ ...own, storage, offline: false, ...settings }),
  );
  const run = await runCommand([...args, "--config", file]);
  expect([args[0], run.status, run.stderr]).toEqual([
    args[0],
    0,
    expect.anything(),
  ]);
}

/** Asks without a pause from the end of the command on until the answer is another one. */
async function expectSoon(
  name: string,
  ask: () => Promise<Answer>,
  [before, after]: readonly [string, string],
  act: () => Promise<void>,
): Promise<void> {
  expect([name, outcomeOf(await ask())]).toEqual([name, before]);
  await act();
  const end = performance.now();
  let outcome = before;
  let taken = 0;
  while (outcome === before && taken < 3 * atMost) {
    outcome = outcomeOf(await ask());
    taken = performance.now() - end;
  }
  console.log(`${name}: ${outcome} after ${Math.round(taken)} ms`);
  expect([name, outcome]).toEqual([name, after]);
  expect(taken).toBeLessThan(atMost);
}

const platform = ["--platform", "linux_amd64"];
const nothing = "404 not-stored";

describe.runIf(canBeOthers)(
  "within a second the daemon of another user answers by what root's",
  { timeout: 120_000 },
  () => {
    async function prefetched(namespace: string, size = 10_000) {
      const by = await signer(namespace);
      await scene.publish(namespace, "1.0.0", by, { size });
      const spec = `${namespace}/thing@1.0.0`;
      await command({}, "prefetch", ...platform, spec);
      return { by, ask: requestsFor(daemon, "thing", namespace) };
    }

    it("prefetch fetched", async () => {
      const ask = requestsFor(daemon, "thing", "fetched");
      await scene.publish("fetched", "1.0.0", await signer("fetched"));
      await expectSoon(
        "prefetch",
        () => ask.archive("1.0.0"),
        [nothing, "200"],
        () => command({}, "prefetch", ...platform, "fetched/thing@1.0.0"),
      );
    });

    it("trust revoke and trust approve decided", async () => {
      const { by, ask } = await prefetched("decided");
      const name = "registry.terraform.io/decided";
      const key = ["--key", by.fingerprint, name];
      await expectSoon(
        "revoke",
        () => ask.version("1.0.0"),
        ["200", "451 key-refused"],
        () => command({}, "trust", "revoke", ...key),
      );
      await expectSoon(
        "approve",
        () => ask.version("1.0.0"),
        ["451 key-refused", "200"],
        () => command({}, "trust", "approve", ...key),
      );
    });

    it("import brought", async () => {
      const other = scratch("exported");
      await scene.publish("brought", "1.0.0", await signer("brought"));
      const bundle = join(tmpdir(), `provender-brought-${process.pid}.bundle`);
      const args = ["export", ...platform, "--bundle", bundle];
      const storage = { directory: other, minFree: 0 };
      await command({ storage }, ...args, "brought/thing@1.0.0");
      const ask = requestsFor(daemon, "thing", "brought");
      await expectSoon(
        "import",
        () => ask.archive("1.0.0"),
        [nothing, "200"],
        () => command({}, "import", bundle),
      );
    });

    it("prune removed", async () => {
      const { ask } = await prefetched("removed", 3 * 2 ** 20);
      const storage = {
        directory: daemon.directory,
        minFree: 0,
        maxSize: "2MiB",
      };
      await expectSoon(
        "prune",
        () => ask.archive("1.0.0"),
        ["200", nothing],
        () => command({ storage }, "prune"),
      );
    });
  },
);
