import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scratch } from "../../running-mirror.ts";
import { canBeOthers, source } from "../../scenes/other-user.ts";
import { startOrigin } from "../../scenes/world.ts";
import { connectedSite } from "./bundles.ts";

const isRoot = canBeOthers && spawnSync("unshare", ["-m", "true"]).status === 0;
if (!isRoot) console.log("SKIPPED: nothing is mounted here");

// Other ways into it: export-folder.test.ts.
it.runIf(isRoot)(
  "export writes through no mount of the storage directory or of a folder in it",
  async () => {
    const spec = "acme/widget@1.0.0";
    const { authority, registry } = await startOrigin();
    await registry.publish({ version: "1.0.0", size: 3_000 });
    const site = connectedSite(authority, registry);
    const { directory, configFile } = site;
    expect(await site.run("prefetch", spec)).toMatchObject({ status: 0 });
    const before = site.snapshot();
    const parts = readdirSync(directory, { recursive: true, encoding: "utf8" });
    const folders = ["", ...parts].filter((part) =>
      statSync(join(directory, part)).isDirectory(),
    );
    const script = folders.flatMap((folder, index) => {
      const at = scratch("mounted");
      const below = ["", "a.tar", "new/deep", "a.oci"][index % 4] ?? "";
      const exports = `"$0" ${source} export --config ${configFile} --to ${join(at, below)} ${spec}`;
      return [
        `mount --bind ${join(directory, folder)} ${at}`,
        `${exports} 2>&1; echo "status $?"`,
      ];
    });
    const { stdout } = spawnSync(
      "unshare",
      ["-m", "sh", "-c", script.join("\n"), process.execPath],
      { encoding: "utf8", cwd: "/" },
    );
    const said = stdout.split(/(?<=status \d+\n)/);
    expect(said).toHaveLength(folders.length);
    for (const one of said)
      expect(one).toMatch(/\(it is in the storage directory\)[^]*status 1\n$/);
    expect(site.snapshot()).toEqual(before);
  },
  300_000,
);
