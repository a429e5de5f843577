import { describe, expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import type { RecordKey } from "../../../src/store/records/record-store.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  codeOf,
  locate,
  makeModuleScene,
  moduleBase,
  versionsOf,
} from "../../scenes/module-scene.ts";
import { plantRecords } from "../../scenes/planted-records.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";
import { loseRecord } from "../../store/stores.ts";

const day = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * day).toISOString();

const scene = await makeModuleScene();

type Dates = Readonly<Record<string, string | undefined>>;

/** Lists these versions, with what the registry says of their dates. */
function publish(module: string, dates: Dates) {
  for (const version of Object.keys(dates))
    scene.origin.publish(`acme/${module}/aws`, version, `./${module}.zip`);
  claim(module, dates);
}

/** As registry.terraform.io says it. */
function claim(module: string, dates: Dates) {
  const included = Object.entries(dates).map(([version, published]) => ({
    type: "module-versions",
    attributes: { version, "published-at": published },
  }));
  const data = { type: "modules", attributes: { name: module } };
  scene.origin.answer(`/v2/modules/acme/${module}/aws`, { data, included });
}

const policyOf = (hostname: string) => ({
  rules: [{ match: `${hostname}/*/*/*`, action: "allow", minimumAge: "3d" }],
});
const configOf = (policy: object = policyOf("registry.terraform.io")) =>
  scene.configOf({ policy, freshness: { versions: "0" } });

const served = async (mirror: RunningMirror, module: string, version: string) =>
  (await locate(mirror, module, version)).status !== 451;

it("policy.minimumAge alone holds no module back, and asks for no dates", async () => {
  publish("free", { "1.0.0": ago(1), "1.1.0": undefined });
  const config = scene.configOf({ policy: { minimumAge: "3d" } });
  const mirror = await startMirror({ config });
  expect(await versionsOf(mirror, "free")).toEqual(["1.1.0", "1.0.0"]);
  expect(await served(mirror, "free", "1.0.0")).toBe(true);
  expect(scene.origin.count("/v2/modules/acme/free")).toBe(0);
});

describe("where a rule gives modules an age, at first contact", () => {
  it("old versions are served and young ones held until they are of age", async () => {
    publish("network", { "1.0.0": ago(400), "1.1.0": ago(4), "2.0.0": ago(2) });
    const mirror = await startMirror({ config: configOf() });
    expect(await versionsOf(mirror, "network")).toEqual(["1.1.0", "1.0.0"]);
    expect(await served(mirror, "network", "1.1.0")).toBe(true);
    const young = await locate(mirror, "network", "2.0.0");
    expect([young.status, codeOf(young)]).toEqual([451, "too-young"]);
    const until = new Date(Date.parse(ago(2)) + 3 * day).toISOString();
    expect(young.body.toString()).toContain(`until ${until.slice(0, 10)}`);
  });

  it.each([
    ["nothing dates", undefined],
    ["has a malformed date", "yesterday"],
    ["claims to be of the future", ago(-30)],
    ["claims to be from before 1970", "1969-12-31T23:59:59Z"],
  ])(
    "what %s is held until the mirror has known it for as long",
    async (how, date) => {
      const module = how.replaceAll(" ", "-");
      publish(module, { "1.0.0": date });
      const mirror = await startMirror({ config: configOf() });
      expect(await versionsOf(mirror, module)).toBe(451);
      const held = await locate(mirror, module);
      expect(codeOf(held)).toBe("too-young");
      const until = new Date(Date.now() + 3 * day).toISOString();
      expect(held.body.toString()).toContain(`until ${until.slice(0, 10)}`);
    },
  );
});

describe("where a rule gives modules an age, after first contact", () => {
  it("a new version's age counts from first sight, not from its claim", async () => {
    publish("grown", { "1.0.0": ago(400) });
    const mirror = await startMirror({ config: configOf() });
    expect(await versionsOf(mirror, "grown")).toEqual(["1.0.0"]);
    publish("grown", { "1.0.0": ago(400), "1.0.1": ago(300) });
    expect(await versionsOf(mirror, "grown")).toEqual(["1.0.0"]);
    expect(await served(mirror, "grown", "1.0.1")).toBe(false);
  });

  it("the first claim stays, also after a restart", async () => {
    publish("moved", { "1.0.0": ago(400), "2.0.0": ago(1) });
    const mirror = await startMirror({ config: configOf() });
    expect(await versionsOf(mirror, "moved")).toEqual(["1.0.0"]);
    claim("moved", { "1.0.0": ago(0), "2.0.0": ago(500) });
    expect(await versionsOf(mirror, "moved")).toEqual(["1.0.0"]);
    await mirror.stop();
    const { directory } = mirror;
    const again = await startMirror({ config: configOf(), directory });
    expect(await versionsOf(again, "moved")).toEqual(["1.0.0"]);
  });
});

it("dates of OpenTofu's registry are read from its documents", async () => {
  const hostname = "registry.opentofu.org";
  for (const version of ["1.0.0", "2.0.0"])
    scene.origin.publish("acme/tofu/aws", version, "./tofu.zip");
  scene.origin.answer("/registry/docs/modules/acme/tofu/aws/index.json", {
    versions: [
      { id: "v2.0.0", published: ago(1) },
      { id: "v1.0.0", published: ago(400) },
    ],
  });
  const origins = {
    [hostname]: { url: scene.origin.url, ca: scene.caFile },
  };
  const mirror = await startMirror({
    config: { origins, policy: policyOf(hostname) },
  });
  const path = moduleBase.replace("registry.terraform.io", hostname);
  const answer = await mirror.get(`${path}/tofu/aws/versions`);
  expect(answer.body.toString()).toContain("1.0.0");
  expect(answer.body.toString()).not.toContain("2.0.0");
});

it.each([
  ["aging", undefined, ["1.0.0"]],
  ["ageless", {}, ["2.0.0", "1.0.0"]],
])(
  "a damaged list is unknown and no first contact, until it is restored: %s",
  async (module, policy, listed) => {
    publish(module, { "1.0.0": ago(400) });
    const directory = scratch("store");
    const config = configOf(policy);
    const before = await startMirror({ config, directory });
    expect(await versionsOf(before, module)).toEqual(["1.0.0"]);
    await before.kill();
    const layout = layOutStore(directory);
    const name = `module_lists/registry.terraform.io/acme/${module}/aws`;
    const key = name.split("/") as unknown as RecordKey;
    const putBack = loseRecord(layout, key);
    plantRecords(directory, [[key, {}]]);
    publish(module, { "1.0.0": ago(400), "2.0.0": ago(400) });

    const mirror = await startMirror({ config, directory });
    expect(await versionsOf(mirror, module)).toBe(503);
    for (const version of ["1.0.0", "2.0.0"])
      expect(outcomeOf(await locate(mirror, module, version))).toBe(
        "503 record-unreadable",
      );
    const alarm = () =>
      mirror.log.find(({ file, alarm }) => alarm && file === name);
    await expect.poll(alarm).toMatchObject({ alarm: "record-unreadable" });
    loseRecord(layout, key);
    putBack();
    expect(await versionsOf(mirror, module)).toEqual(listed);
  },
);
