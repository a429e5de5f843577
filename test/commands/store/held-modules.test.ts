import { describe, expect, it } from "vitest";
import { tarGz } from "../../fakes/module-archive.ts";
import { startMirror } from "../../running-mirror.ts";
import { getArchive, makeModuleScene } from "../../scenes/module-scene.ts";
import { plantRecords } from "../../scenes/planted-records.ts";
import { runCommand } from "../../scenes/provider-requests.ts";
import { expectDocument } from "../documents.ts";

const spec = (module: string) => `registry.terraform.io/acme/${module}/aws`;

const scene = await makeModuleScene();
const mirror = await startMirror({ config: scene.configOf() });

/** Version 1.0.0, whose archive is stored, and 1.1.0, which only clients can fetch. */
async function fill(module: string): Promise<Buffer> {
  const bytes = await tarGz([["main.tf", `# ${module}`]]);
  const url = scene.origin.serve(`/files/${module}.tar.gz`, bytes);
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", url);
  const place = ["registry.terraform.io", "acme", module, "aws"];
  const key = ["module_pins", ...place, "1.1.0"] as const;
  const digest = "a".repeat(40);
  const body = {
    pinned: { digest, at: "2026-01-01T00:00:00.000Z" },
    evidence: [{ digest, commit: digest, foreign: "it has submodules" }],
  };
  plantRecords(mirror.directory, [[key, body]]);
  expect((await getArchive(mirror, module)).body.equals(bytes)).toBe(true);
  return bytes;
}

interface ListedModule {
  readonly module: string;
  readonly version: string;
  readonly sha256: string | null;
  readonly size: number | null;
}

async function list(...specs: readonly string[]) {
  const run = await runCommand(mirror, "list", "--json", ...specs);
  expect(run.status).toBe(0);
  return expectDocument("list", run.stdout) as {
    packages: readonly unknown[];
    modules: readonly ListedModule[];
  };
}

describe("what is held of modules", () => {
  it("is listed with all that is held, by a SPEC and by a constraint", async () => {
    const bytes = await fill("listed");
    const all = (await list()).modules;
    const own = all.filter(({ module }) => module === spec("listed"));
    expect(own).toMatchObject([
      { version: "1.1.0", sha256: null, stored: false, size: null },
      { version: "1.0.0", stored: true, size: bytes.length, commit: null },
    ]);
    const named = await list(spec("listed"));
    const versions = named.modules.map(({ version }) => version);
    expect([named.packages, versions]).toEqual([[], ["1.1.0", "1.0.0"]]);
    const older = await list(`${spec("listed")}@< 1.1.0`);
    expect(older.modules.map(({ version }) => version)).toEqual(["1.0.0"]);
    const each = await runCommand(mirror, "list", spec("listed"));
    expect(each.stdout).toMatch(/listed\/aws +2 +1\.1\.0 +1 of 2 +\S+ \w+ /);
    const args = ["list", "--all", spec("listed")];
    const { stdout } = await runCommand(mirror, ...args);
    expect(stdout).toMatch(/listed\/aws +1\.1\.0 +by clients +-/);
    expect(stdout).toContain("2 versions of modules, 1 of them stored (");
  });

  it("is forgotten, fetched again, and has to be what is pinned", async () => {
    const bytes = await fill("purged");
    const purge = () => runCommand(mirror, "prune", "--json", spec("purged"));
    const purged = await purge();
    expect([purged.status, purged.stderr]).toEqual([0, ""]);
    expect(expectDocument("prune", purged.stdout)).toMatchObject({
      removed: [{ name: `${spec("purged")} 1.0.0`, because: "named" }],
      freed: bytes.length,
    });
    const again = await getArchive(mirror, "purged");
    expect([again.status, again.body.equals(bytes)]).toEqual([200, true]);
    expect((await purge()).status).toBe(0);
    const other = await tarGz([["main.tf", "# other"]]);
    scene.origin.serve("/files/purged.tar.gz", other);
    const refused = await getArchive(mirror, "purged");
    expect([refused.status, refused.body.equals(other)]).toEqual([451, false]);
  });
});
