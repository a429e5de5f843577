import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { barrier } from "../fakes/barrier.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { eventually } from "../scenes/provider-requests.ts";
import { originsOf } from "../origins.ts";
import { runCommand, type CommandOptions } from "../running-command.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";

let registry: Registry;
let config: ReturnType<typeof originsOf>;
let mirror: RunningMirror;

const many = 10;
const linux = ["--platform", "linux_amd64"];

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  for (let minor = 0; minor < many; minor++)
    await registry.publish({
      version: `1.${minor}.0`,
      platforms: ["linux_amd64"],
    });
  for (const version of ["1.0.0", "1.1.0", "1.2.0"])
    await registry.publish({
      ...{ type: "slow", version, size: 400_000 },
      platforms: ["linux_amd64"],
    });
  config = originsOf(authority, registry);
  mirror = await startMirror({ config });
});
afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

function beside(
  { configFile }: Pick<RunningMirror, "configFile">,
  args: readonly string[],
  options: CommandOptions = {},
) {
  return runCommand([...args, "--config", configFile], options);
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

  it("end their work when they are interrupted", async () => {
    const held = holdArchives();
    const run = await beside(mirror, ["prefetch", ...linux, "acme/slow@all"], {
      interruptAfter: held.reached,
    });
    expect(run.status).toBe(130);
    expect(run.stderr).toContain("Interrupted with 3 of 3 packages not stored");
    held.release();
    registry.heal();
    const check = ["prefetch", "--check", ...linux, "acme/slow@1.0.0"];
    expect((await beside(mirror, check)).status).toBe(1);
  });

  it("are named in what it serves: a new version, and the h1 of an archive that they stored", async () => {
    const folder = "/providers/registry.terraform.io/acme/later";
    await registry.publish({ type: "later", version: "1.0.0" });
    expect(
      (await mirror.get(`${folder}/index.json`)).body.toString(),
    ).not.toContain("1.1.0");
    await registry.publish({ type: "later", version: "1.1.0" });
    const spec = ["prefetch", ...linux, "acme/later@1.1.0"];
    // A version that was not listed a moment ago is not asked for again at once.
    await eventually(
      () => beside(mirror, spec),
      ({ status }) => status === 0,
    );
    expect(
      (await mirror.get(`${folder}/index.json`)).body.toString(),
    ).toContain("1.1.0");
    expect(
      (await mirror.get(`${folder}/1.1.0.json`)).body.toString(),
    ).toContain('"h1:');
    expect(
      (await mirror.get(`${folder}/1.0.0.json`)).body.toString(),
    ).not.toContain("h1:");
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
