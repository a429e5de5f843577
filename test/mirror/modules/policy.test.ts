import { expect, it } from "vitest";
import { startMirror } from "../../running-mirror.ts";
import { awaitLine, awaitLineOf } from "../../scenes/log-lines.ts";
import {
  getArchive,
  locate,
  makeModuleScene,
  moduleBase,
  versionsOf,
} from "../../scenes/module-scene.ts";
import {
  awaitAudit,
  outcomeOf,
  readMetric,
} from "../../scenes/provider-requests.ts";

const scene = await makeModuleScene();

const startUnder = (policy: object) =>
  startMirror({ config: scene.configOf({ policy }) });

it("modules are denied by default, and let in by patterns of four parts", async () => {
  for (const module of ["good", "bad"])
    await scene.publishArchive(module, "1.0.0", "2.0.0");
  const host = "registry.terraform.io";
  const range = { action: "allow", versions: "< 2.0.0" };
  const rules = [
    { match: `${host}/*/*`, action: "allow" },
    { match: `${host}/acme/go*/aws`, ...range },
  ];
  const mirror = await startUnder({ default: "deny", rules });
  expect(await versionsOf(mirror, "good")).toEqual(["1.0.0"]);
  expect((await locate(mirror, "good")).status).toBe(204);
  expect((await locate(mirror, "good", "2.0.0")).status).toBe(451);
  expect(await versionsOf(mirror, "bad")).toBe(451);
  const refused = await getArchive(mirror, "bad");
  expect(outcomeOf(refused)).toBe("451 policy-denied");
});

it("a pattern denies a module under every spelling, and no other one", async () => {
  await scene.publishArchive("one");
  const location = `${scene.origin.url}files/one.tar.gz`;
  scene.origin.publish("EVIL/NET/aws", "1.0.0", location);
  const match = "registry.terraform.io/Evil/nE*/aws";
  const mirror = await startUnder({ rules: [{ match, action: "deny" }] });
  const base = "/v1/modules/registry.terraform.io";
  for (const name of ["evil/net", "Evil/Net", "EVIL/NET"])
    for (const rest of ["versions", "1.0.0/download", "1.0.0/archive.tar.gz"]) {
      const answer = await mirror.get(`${base}/${name}/aws/${rest}`);
      expect(outcomeOf(answer), name + rest).toBe("451 policy-denied");
    }
  expect((await getArchive(mirror, "one")).status).toBe(200);
});

it.each([
  ["enforce", "leftOut", "refused", ["1.0.0"]],
  ["report", "reported", "reported", ["3.0.0", "2.0.0", "1.0.0"]],
] as const)(
  "versions that are left out, or would be, are counted: %s",
  async (mode, field, verdict, listed) => {
    await scene.publishArchive("partly", "1.0.0", "2.0.0", "3.0.0");
    const match = "registry.terraform.io/acme/partly/aws";
    const rule = { match, action: "deny", versions: ">= 2.0.0" };
    const mirror = await startUnder({ mode, rules: [rule] });
    const path = `${moduleBase}/partly/aws/versions`;
    for (let time = 0; time < 2; time++)
      expect(await awaitLineOf(mirror, await mirror.get(path))).toMatchObject({
        [field]: { denied: 2 },
      });
    expect(await versionsOf(mirror, "partly")).toEqual(listed);
    const detail: unknown = expect.stringMatching(
      /^2 denied; .*3\.0\.0.*2\.0\.0/,
    );
    expect(
      await awaitAudit(mirror, ({ event }) => event === "left-out"),
    ).toMatchObject([{ module: match, verdict, detail }]);
    const why = (await mirror.get(`/why/${match}`)).body.toString();
    expect(why.includes("leaves out, denied: 3.0.0")).toBe(mode === "enforce");
  },
);

it("what only clients can fetch is passed through, logged and counted", async () => {
  const mirror = await startUnder({});
  const locations = [
    "oci://example.com/module",
    "s3::https://s3.amazonaws.com/bucket/m\u00f3dulo.zip",
    "https://example.com/module.zip?archive=false",
    "https://example.com/m.zip?checksum=file:https://e.com/sums",
  ];
  for (const [index, location] of locations.entries()) {
    // A letter of a header is a byte.
    const place = Buffer.from(location).toString("latin1");
    scene.origin.publish(`acme/foreign${index}/aws`, "1.0.0", place);
    const { status, headers } = await locate(mirror, `foreign${index}`);
    expect([status, headers["x-terraform-get"]]).toEqual([204, place]);
    const line = await awaitLine(mirror, ({ module }) =>
      String(module).includes(`/foreign${index}/`),
    );
    expect(line.getter).toContain(location.slice(0, 2));
  }
  const series = "provender_modules_passed_through_total";
  expect(await readMetric(mirror, series)).toBe(locations.length);
});
