import { expect, it } from "vitest";
import { plantRecords } from "../../scenes/planted-records.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import type { RecordKey } from "../../../src/store/records/record-tables.ts";
import { loseRecord } from "../../store/stores.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  locate,
  makeModuleScene,
  versionsOf,
} from "../../scenes/module-scene.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";

const day = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * day).toISOString();
const hostname = "registry.terraform.io";
const nameOf = (module: string) => `${hostname}/acme/${module}/aws`;

const scene = await makeModuleScene();

/** Serves these versions, all of them old by what the registry says. */
async function publish(
  module: string,
  ...versions: readonly string[]
): Promise<void> {
  for (const version of versions) {
    const bytes = await tarGz([["main.tf", `# ${module} ${version}`]]);
    const url = scene.origin.serve(`/${module}-${version}.tar.gz`, bytes);
    scene.origin.publish(`acme/${module}/aws`, version, url);
  }
  const included = versions.map((version) => ({
    type: "module-versions",
    attributes: { version, "published-at": ago(400) },
  }));
  const data = { type: "modules", attributes: { name: module } };
  scene.origin.answer(`/v2/modules/acme/${module}/aws`, { data, included });
}

const policies = {
  "under minimumAge": {
    rules: [{ match: `${hostname}/*/*/*`, action: "allow", minimumAge: "3d" }],
  },
  "without minimumAge": {},
};
type Kind = keyof typeof policies;

const configOf = (kind: Kind) =>
  scene.configOf({ policy: policies[kind], freshness: { versions: "0" } });

const keyOf = (module: string): RecordKey => [
  "module_lists",
  ...nameOf(module).split("/"),
];

/** Lists a module, damages the list, and has the registry name a version more. */
async function damageList(kind: Kind, module: string) {
  await publish(module, "1.0.0");
  const directory = scratch("store");
  const options = { config: configOf(kind), directory };
  const before = await startMirror(options);
  expect(await versionsOf(before, module)).toEqual(["1.0.0"]);
  expect((await locate(before, module)).status).toBe(204);
  await before.kill();
  const layout = layOutStore(directory);
  const key = keyOf(module);
  const putBack = loseRecord(layout, key);
  plantRecords(directory, [[key, {}]]);
  const restore = () => {
    loseRecord(layout, key);
    putBack();
  };
  await publish(module, "1.0.0", "2.0.0");
  return { mirror: await startMirror(options), restore };
}

async function outcomes(mirror: RunningMirror, module: string) {
  const listed = await versionsOf(mirror, module);
  const located = ["1.0.0", "2.0.0"].map((version) =>
    locate(mirror, module, version),
  );
  return [listed, ...(await Promise.all(located)).map(outcomeOf)];
}

const unreadable = "503 record-unreadable";

it.each(Object.keys(policies) as readonly Kind[])(
  "a damaged list is unknown and no first contact, until it is restored, %s",
  async (kind) => {
    const module = kind.split(" ")[0] ?? "";
    const { mirror, restore } = await damageList(kind, module);
    const unknown = [503, unreadable, unreadable];
    expect(await outcomes(mirror, module)).toEqual(unknown);
    const file = keyOf(module).join("/");
    const alarm = () =>
      mirror.log.find((line) => "alarm" in line && line.file === file);
    await expect.poll(alarm).toMatchObject({ alarm: "record-unreadable" });
    restore();
    const isAging = kind === "under minimumAge";
    const listed = isAging ? ["1.0.0"] : ["2.0.0", "1.0.0"];
    expect(await versionsOf(mirror, module)).toEqual(listed);
  },
);
