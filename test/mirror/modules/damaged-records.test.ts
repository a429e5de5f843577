import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarGz } from "../../fakes/module-archive.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  getArchive,
  locate,
  makeModuleScene,
  removeBlobs,
  type ModuleScene,
} from "../../scenes/module-scene.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";
import { damageRecord, recordDamages } from "../../store/record-damage.ts";

let scene: ModuleScene;
beforeAll(async () => {
  scene = await makeModuleScene();
});
afterAll(() => scene.origin.stop());

/** Folders of the records that the first request for a module makes. */
const kinds = {
  "the archive that was seen first": "archives",
  "the place that was seen first": "releases",
};

const cases = Object.entries(kinds).flatMap(([kind, folder], k) =>
  Object.keys(recordDamages).map((damage, d) => {
    const module = `case${k}x${d}`;
    const path = `modules/registry.terraform.io/acme/${module}/aws`;
    return { kind, damage, module, record: `${path}/${folder}/1.0.0` };
  }),
);

async function offer(module: string, content: string): Promise<void> {
  const bytes = await tarGz([["main.tf", `# ${module} ${content}`]]);
  const url = scene.origin.serve(`/${module}.tar.gz`, bytes);
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", url);
}

async function outcomes(
  mirror: RunningMirror,
  ask: (mirror: RunningMirror, module: string) => ReturnType<typeof locate>,
): Promise<readonly (readonly [string, string, string])[]> {
  const asked = cases.map(async ({ kind, damage, module }) => {
    const answer = await ask(mirror, module);
    return [kind, damage, outcomeOf(answer)] as const;
  });
  return Promise.all(asked);
}

const allAre = (outcome: string) =>
  cases.map(({ kind, damage }) => [kind, damage, outcome]);

describe(`${cases.length} kinds of damage to records of modules`, () => {
  it(
    "to one copy heal from the other, and to both are unknown: nothing that was replaced is served",
    { timeout: 120_000 },
    async () => {
      const directory = scratch("store");
      const config = scene.configOf({ freshness: { versions: "0s" } });
      let mirror = await startMirror({ config, directory });
      const restart = async (damage: () => void) => {
        await mirror.kill();
        damage();
        mirror = await startMirror({ config, directory });
      };
      try {
        for (const { module } of cases) {
          await offer(module, "first");
          expect((await getArchive(mirror, module)).status).toBe(200);
          await offer(module, "other");
        }
        await removeBlobs(mirror);
        await restart(() => {
          for (const one of cases) damageRecord(directory, one, ["records"]);
        });
        expect(await outcomes(mirror, getArchive)).toEqual(
          allAre("451 module-replaced"),
        );
        const healed = () =>
          mirror.log
            .filter(({ msg }) => String(msg).includes("made again from"))
            .map(({ file }) => file);
        await expect
          .poll(() => new Set(healed()).size)
          .toBeGreaterThanOrEqual(cases.length);

        await restart(() => {
          for (const one of cases) damageRecord(directory, one);
        });
        for (const ask of [getArchive, locate])
          expect(await outcomes(mirror, ask)).toEqual(
            allAre("503 record-unreadable"),
          );
        const alarms = () =>
          mirror.log
            .filter(({ alarm }) => alarm === "record-unreadable")
            .map(({ file }) => file);
        await expect.poll(() => new Set(alarms()).size).toBe(cases.length);
      } finally {
        await mirror.kill();
      }
    },
  );
});
