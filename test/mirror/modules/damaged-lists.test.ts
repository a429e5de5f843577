import { expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import type { RecordKey } from "../../../src/store/records/record-tables.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import {
  locate,
  makeModuleScene,
  versionsOf,
} from "../../scenes/module-scene.ts";
import { plantRecords } from "../../scenes/planted-records.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";
import { loseRecord } from "../../store/stores.ts";

const hostname = "registry.terraform.io";
const scene = await makeModuleScene();

/** Serves these versions, all of them old by what the registry says. */
async function publish(module: string, ...versions: readonly string[]) {
  for (const version of versions) {
    const bytes = await tarGz([["main.tf", `# ${module} ${version}`]]);
    const url = scene.origin.serve(`/${module}-${version}.tar.gz`, bytes);
    scene.origin.publish(`acme/${module}/aws`, version, url);
  }
  const included = versions.map((version) => ({
    type: "module-versions",
    attributes: { version, "published-at": "2020-01-01T00:00:00Z" },
  }));
  const data = { type: "modules", attributes: { name: module } };
  scene.origin.answer(`/v2/modules/acme/${module}/aws`, { data, included });
}

const aged = { match: `${hostname}/*/*/*`, action: "allow", minimumAge: "3d" };

it.each([
  ["aging", { rules: [aged] }, ["1.0.0"]],
  ["ageless", {}, ["2.0.0", "1.0.0"]],
])(
  "a damaged list is unknown and no first contact, until it is restored: %s",
  async (module, policy, listed) => {
    await publish(module, "1.0.0");
    const directory = scratch("store");
    const config = scene.configOf({ policy, freshness: { versions: "0" } });
    const before = await startMirror({ config, directory });
    expect(await versionsOf(before, module)).toEqual(["1.0.0"]);
    expect((await locate(before, module)).status).toBe(204);
    await before.kill();
    const layout = layOutStore(directory);
    const key: RecordKey = ["module_lists", hostname, "acme", module, "aws"];
    const putBack = loseRecord(layout, key);
    plantRecords(directory, [[key, {}]]);
    await publish(module, "1.0.0", "2.0.0");

    const mirror = await startMirror({ config, directory });
    expect(await versionsOf(mirror, module)).toBe(503);
    for (const version of ["1.0.0", "2.0.0"])
      expect(outcomeOf(await locate(mirror, module, version))).toBe(
        "503 record-unreadable",
      );
    const alarm = () =>
      mirror.log.find(({ file, alarm }) => alarm && file === key.join("/"));
    await expect.poll(alarm).toMatchObject({ alarm: "record-unreadable" });
    loseRecord(layout, key);
    putBack();
    expect(await versionsOf(mirror, module)).toEqual(listed);
  },
);
