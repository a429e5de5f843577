import { describe, expect, it } from "vitest";
import { barrier } from "../fakes/barrier.ts";
import { eventually } from "../scenes/provider-requests.ts";
import { runCommand } from "../running-command.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { startWorld } from "../scenes/world.ts";

const many = 10;
const linux = ["--platform", "linux_amd64"];

const { registry, config, mirror } = await startWorld();
for (let minor = 0; minor < many; minor++)
  await registry.publish({ version: `1.${minor}.0` });
for (const version of ["1.0.0", "1.1.0", "1.2.0"])
  await registry.publish({ type: "slow", version, size: 400_000 });

function beside(
  { configFile }: Pick<RunningMirror, "configFile">,
  args: readonly string[],
) {
  return runCommand([...args, "--config", configFile]);
}

/** Registry that sends archives of one provider when it is let go. */
function holdArchives() {
  const held = barrier();
  registry.script("archive", held.afterBytes(100_000));
  return held;
}

describe("commands beside a daemon", () => {
  it(`prefetch ${many} packages with progress, which the daemon holds at once`, async () => {
    const spec = ["acme/widget@all"];
    const run = await beside(mirror, ["prefetch", ...linux, ...spec]);
    expect([run.status, run.stdout]).toEqual([0, ""]);
    const lines = run.stderr.match(/^\d+\/\d+ .*: fetched, .*$/gm) ?? [];
    expect(lines).toHaveLength(many);
    expect(run.stderr).toContain(`${many} fetched (`);
    const listed = await beside(mirror, ["list", "--json"]);
    const { packages } = JSON.parse(listed.stdout) as { packages: unknown[] };
    expect(packages).toHaveLength(many);
  });

  it("are named in what it serves: a new version, and the h1 of an archive that they stored", async () => {
    const folder = "/providers/registry.terraform.io/acme/later";
    await registry.publish({ type: "later", version: "1.0.0" });
    const read = async (name: string) =>
      (await mirror.get(`${folder}/${name}.json`)).body.toString();
    expect(await read("index")).not.toContain("1.1.0");
    await registry.publish({ type: "later", version: "1.1.0" });
    const spec = ["prefetch", ...linux, "acme/later@1.1.0"];
    // A version that was not listed a moment ago is not asked for again at once.
    await eventually(
      () => beside(mirror, spec),
      ({ status }) => status === 0,
    );
    expect(await read("index")).toContain("1.1.0");
    expect(await read("1.1.0")).toContain('"h1:');
    expect(await read("1.0.0")).not.toContain("h1:");
  });

  it("work at once, while another one waits for an origin", async () => {
    const held = holdArchives();
    const running = beside(mirror, ["prefetch", ...linux, "acme/slow@1.1.0"]);
    await held.reached;
    const others = [["list"], ["verify"], ["trust", "list"], ["audit"]];
    const runs = await Promise.all(others.map((args) => beside(mirror, args)));
    held.release();
    registry.heal();
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 0, 0]);
    expect((await running).status).toBe(0);
  });

  it("go on when the daemon is killed", async () => {
    const own = await startMirror({ config });
    const held = holdArchives();
    const running = beside(own, ["prefetch", ...linux, "acme/slow@1.0.0"]);
    await held.reached;
    await own.kill();
    held.release();
    registry.heal();
    expect((await running).status).toBe(0);
  });

  it("leave no more than storage.maxSize, whoever stored it", async () => {
    const directory = scratch("store");
    const storage = { directory, maxSize: "1MiB", minFree: "1MiB" };
    const own = await startMirror({
      ...{ directory, config: { listen: { port: 0 }, ...config, storage } },
    });
    const folder = "/providers/registry.terraform.io/acme/slow";
    const get = (version: string) =>
      own.get(`${folder}/terraform-provider-slow_${version}_linux_amd64.zip`);
    expect((await get("1.0.0")).status).toBe(200);
    const spec = ["prefetch", ...linux, "acme/slow@1.1.0"];
    expect(await beside(own, spec)).toMatchObject({ status: 0 });
    expect((await get("1.2.0")).status).toBe(200);
    const { stdout } = await beside(own, ["list", "--json"]);
    const { packages } = JSON.parse(stdout) as {
      packages: { readonly version: string; readonly stored: boolean }[];
    };
    const stored = packages.filter((one) => one.stored);
    expect(stored.map(({ version }) => version)).toEqual(["1.2.0", "1.1.0"]);
  });
});
