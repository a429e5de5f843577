import { expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import type { RecordKey } from "../../../src/store/records/record-store.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import {
  locate,
  makeModuleScene,
  moduleBase,
  versionsOf,
} from "../../scenes/module-scene.ts";
import { awaitLine } from "../../scenes/log-lines.ts";
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

const mirror = await startMirror({ config: configOf() });

/** What is said of a version; the day until which it waits. */
async function held(module: string, version = "1.0.0", asked = mirror) {
  const { status, body } = await locate(asked, module, version);
  const [, until] = /until (\S{10})/.exec(body.toString()) ?? [];
  return status === 451 ? `until ${until}` : "served";
}

const until = (from: string) =>
  `until ${new Date(Date.parse(from) + 3 * day).toISOString().slice(0, 10)}`;

it("policy.minimumAge alone holds no module back, and asks for no dates", async () => {
  publish("free", { "1.0.0": ago(1), "1.1.0": undefined });
  const config = scene.configOf({ policy: { minimumAge: "3d" } });
  const other = await startMirror({ config });
  expect(await versionsOf(other, "free")).toEqual(["1.1.0", "1.0.0"]);
  expect((await locate(other, "free")).status).not.toBe(451);
  expect(scene.origin.count("/v2/modules/acme/free")).toBe(0);
});

it("where a rule gives modules an age, old versions are served and young ones held until they are of age", async () => {
  publish("network", { "1.0.0": ago(400), "1.1.0": ago(4), "2.0.0": ago(2) });
  expect(await versionsOf(mirror, "network")).toEqual(["1.1.0", "1.0.0"]);
  expect(await held("network", "1.1.0")).toBe("served");
  expect(await held("network", "2.0.0")).toBe(until(ago(2)));
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
    expect(await versionsOf(mirror, module)).toBe(451);
    expect(await held(module)).toBe(until(ago(0)));
  },
);

it("the first claim stays, also after a restart, and what appears later counts from first sight", async () => {
  publish("moved", { "1.0.0": ago(400), "2.0.0": ago(1) });
  const before = await startMirror({ config: configOf() });
  expect(await versionsOf(before, "moved")).toEqual(["1.0.0"]);
  publish("moved", { "1.0.0": ago(0), "2.0.0": ago(500), "3.0.0": ago(500) });
  expect(await versionsOf(before, "moved")).toEqual(["1.0.0"]);
  await before.stop();
  const { directory } = before;
  const after = await startMirror({ config: configOf(), directory });
  expect(await versionsOf(after, "moved")).toEqual(["1.0.0"]);
  expect(await held("moved", "3.0.0", after)).toBe(until(ago(0)));
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
  const config = { origins, policy: policyOf(hostname) };
  const other = await startMirror({ config });
  const path = moduleBase.replace("registry.terraform.io", hostname);
  const answer = await other.get(`${path}/tofu/aws/versions`);
  expect(answer.body.toString()).toContain("1.0.0");
  expect(answer.body.toString()).not.toContain("2.0.0");
});

it("a damaged list is unknown and no first contact, until it is restored", async () => {
  publish("aging", { "1.0.0": ago(400) });
  const directory = scratch("store");
  const config = configOf();
  const before = await startMirror({ config, directory });
  expect(await versionsOf(before, "aging")).toEqual(["1.0.0"]);
  await before.kill();
  const layout = layOutStore(directory);
  const parts = ["registry.terraform.io", "acme", "aging", "aws"] as const;
  const key: RecordKey = ["module_lists", ...parts];
  const putBack = loseRecord(layout, key);
  plantRecords(directory, [[key, {}]]);
  publish("aging", { "1.0.0": ago(400), "2.0.0": ago(400) });

  const after = await startMirror({ config, directory });
  expect(await versionsOf(after, "aging")).toBe(503);
  for (const version of ["1.0.0", "2.0.0"])
    expect(outcomeOf(await locate(after, "aging", version))).toBe(
      "503 record-unreadable",
    );
  const name = key.join("/");
  await awaitLine(
    after,
    ({ file, alarm }) => file === name && alarm === "record-unreadable",
  );
  loseRecord(layout, key);
  putBack();
  expect(await versionsOf(after, "aging")).toEqual(["1.0.0"]);
});
