import { expect, it } from "vitest";
import { barrier } from "../fakes/barrier.ts";
import { runCommand } from "../running-command.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { eventually, requestsFor } from "../scenes/provider-requests.ts";
import { startWorld } from "../scenes/world.ts";

const linux = ["--platform", "linux_amd64"];

const { registry, config, mirror } = await startWorld();
for (const version of ["1.0.0", "1.1.0", "1.2.0"])
  await registry.publish({ type: "slow", version, size: 400_000 });

function beside(
  { configFile }: Pick<RunningMirror, "configFile">,
  ...args: readonly string[]
) {
  return runCommand([...args, "--config", configFile]);
}

async function packagesOf(of: RunningMirror) {
  const { stdout } = await beside(of, "list", "--json");
  const { packages } = JSON.parse(stdout) as {
    packages: { readonly version: string; readonly stored: boolean }[];
  };
  return packages;
}

it("commands are named in what the daemon serves: a new version, and the h1 of an archive that they stored", async () => {
  const ask = requestsFor(mirror, "later");
  await registry.publish({ type: "later", version: "1.0.0" });
  expect(await ask.listed()).toEqual(["1.0.0"]);
  await registry.publish({ type: "later", version: "1.1.0" });
  // A version that was not listed a moment ago is not asked for again at once.
  const run = await eventually(
    () => beside(mirror, "prefetch", ...linux, "acme/later@1.1.0"),
    ({ status }) => status === 0,
  );
  expect(run.stderr).toMatch(/^1\/1 .*: fetched, .*$/m);
  expect(run.stdout).toBe("");
  expect(await packagesOf(mirror)).toHaveLength(1);
  expect(await ask.listed()).toEqual(["1.0.0", "1.1.0"]);
  expect((await ask.version("1.1.0")).body.toString()).toContain('"h1:');
  expect((await ask.version("1.0.0")).body.toString()).not.toContain("h1:");
});

it("commands work at once while another one waits for an origin, which goes on when the daemon is killed", async () => {
  const own = await startMirror({ config });
  const held = barrier();
  registry.script("archive", held.afterBytes(100_000));
  const running = beside(own, "prefetch", ...linux, "acme/slow@1.1.0");
  await held.reached;
  const others = [["list"], ["verify"], ["trust", "list"], ["audit"]];
  const runs = await Promise.all(others.map((args) => beside(own, ...args)));
  expect(runs.map(({ status }) => status)).toEqual([0, 0, 0, 0]);
  await own.kill();
  held.release();
  registry.heal();
  expect((await running).status).toBe(0);
});

it("commands leave no more than storage.maxSize, whoever stored it", async () => {
  const directory = scratch("store");
  const storage = { directory, maxSize: "1MiB", minFree: "1MiB" };
  const own = await startMirror({
    ...{ directory, config: { listen: { port: 0 }, ...config, storage } },
  });
  const ask = requestsFor(own, "slow");
  expect(await ask.delivery("1.0.0")).toBe("200");
  const fetched = await beside(own, "prefetch", ...linux, "acme/slow@1.1.0");
  expect(fetched.status).toBe(0);
  expect(await ask.delivery("1.2.0")).toBe("200");
  const stored = (await packagesOf(own)).filter((one) => one.stored);
  expect(stored.map(({ version }) => version)).toEqual(["1.2.0", "1.1.0"]);
});
