import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import { loseRecord, readRecord } from "../../store/stores.ts";
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
import {
  outcomeOf,
  readAudit,
  runCommand,
} from "../../scenes/provider-requests.ts";

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

/** Imports 1.0.0 from another mirror's bundle, before any list is seen. */
async function importFirst(module: string, directory: string): Promise<void> {
  const file = join(scratch("bundle"), "modules.bundle");
  const spec = ["--module", `${nameOf(module)}@1.0.0`];
  const from = await startMirror({ config: scene.configOf() });
  const made = await runCommand(from, "export", "--bundle", file, ...spec);
  expect(made).toMatchObject({ status: 0 });
  await from.stop();
  const other = { config: scene.configOf(), directory };
  const to = await startMirror(other);
  const done = await runCommand(to, "import", file);
  expect(done).toMatchObject({ status: 0 });
  await to.stop();
}

const keyOf = (module: string) => [
  ...["modules", ...nameOf(module).split("/")],
  "versions",
];
const listOf = ({ directory }: RunningMirror, module: string) =>
  readRecord(directory, keyOf(module));

const kinds = Object.keys(policies) as readonly Kind[];
const cases = kinds.flatMap((kind) =>
  ["listed", "imported"].map((how) => ({
    ...{ kind, how },
    module: `${how}-${kind.split(" ")[0]}`,
  })),
);

/** Lists a module, loses the list, and has the registry name a version more. */
async function loseList({ kind, how, module }: (typeof cases)[number]) {
  await publish(module, "1.0.0");
  const directory = scratch("store");
  if (how === "imported") await importFirst(module, directory);
  const options = { config: configOf(kind), directory };
  const before = await startMirror(options);
  expect(await versionsOf(before, module)).toEqual(["1.0.0"]);
  expect((await locate(before, module)).status).toBe(204);
  await before.kill();
  const layout = layOutStore(directory);
  const restore = loseRecord(layout, keyOf(module));
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

describe.each(cases)("a list that was lost $kind, $how", (one) => {
  const { kind, module } = one;
  const isAging = kind === "under minimumAge";

  it("is unknown and no first contact, until it is restored", async () => {
    const { mirror, restore } = await loseList(one);
    const unknown = [503, unreadable, unreadable];
    expect(await outcomes(mirror, module)).toEqual(unknown);
    const file = keyOf(module).join("/");
    const alarm = () =>
      mirror.log.find((line) => "alarm" in line && line.file === file);
    await expect.poll(alarm).toMatchObject({
      alarm: "record-unreadable",
      problem: expect.stringContaining(
        `missing, and a record that was written after it exists: restore it from a backup, or run "provender trust reset ${nameOf(module)}"`,
      ) as unknown,
    });
    expect(listOf(mirror, module)).toBeUndefined();
    restore();
    const listed = isAging ? ["1.0.0"] : ["2.0.0", "1.0.0"];
    expect(await versionsOf(mirror, module)).toEqual(listed);
  });
});

it("a module that was imported and never listed has lost nothing", async () => {
  await publish("carried", "1.0.0");
  const directory = scratch("store");
  await importFirst("carried", directory);
  const options = { config: configOf("under minimumAge"), directory };
  const mirror = await startMirror(options);
  expect(await versionsOf(mirror, "carried")).toEqual(["1.0.0"]);
});

describe("provender trust reset of a module", () => {
  const module = "reset";

  it("has the next list count as the first, with its pinned content, and says so in the audit log", async () => {
    const lost = { kind: "under minimumAge", how: "listed", module } as const;
    const { mirror } = await loseList(lost);
    expect(await versionsOf(mirror, module)).toBe(503);
    const command = ["trust", "reset", `acme/${module}/aws`];
    const because = ["--because", "disk died"];
    const reset = await runCommand(mirror, ...command, ...because);
    expect(reset).toMatchObject({ status: 0, stderr: "" });
    expect(reset.stdout).toContain(`${nameOf(module)} is forgotten`);
    expect(readAudit(mirror).at(-1)).toMatchObject({
      ...{ event: "reset", module: nameOf(module), because: "disk died" },
    });
    expect(await versionsOf(mirror, module)).toEqual(["2.0.0", "1.0.0"]);
    const again = await runCommand(mirror, ...command);
    expect(again.status).toBe(1);
    expect(again.stderr).toContain("has no list of versions that was lost");
    expect(JSON.stringify(listOf(mirror, module))).toContain("2.0.0");
  });
});
