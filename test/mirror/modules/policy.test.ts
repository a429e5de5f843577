import { describe, expect, it } from "vitest";
import { tarGz } from "../../fakes/module-archive.ts";
import { startMirror } from "../../running-mirror.ts";
import { awaitLine, awaitLineOf } from "../../scenes/log-lines.ts";
import {
  codeOf,
  locate,
  makeModuleScene,
  moduleBase,
  versionsOf,
} from "../../scenes/module-scene.ts";
import { awaitAudit, readMetric } from "../../scenes/provider-requests.ts";

const scene = await makeModuleScene();
const mirror = await startMirror({ config: scene.configOf() });

describe("policy", () => {
  const rulesFor = (rules: readonly unknown[], other = {}) =>
    scene.configOf({ policy: { default: "deny", ...other, rules } });

  it("denies modules by default, and lets in by patterns of four parts", async () => {
    const bytes = await tarGz([["main.tf", "# policy"]]);
    const url = scene.origin.serve("/files/policy.tar.gz", bytes);
    for (const version of ["1.0.0", "2.0.0"])
      for (const module of ["good", "bad"])
        scene.origin.publish(`acme/${module}/aws`, version, url);
    const config = rulesFor([
      { match: "registry.terraform.io/*/*", action: "allow" },
      {
        match: "registry.terraform.io/acme/go*/aws",
        action: "allow",
        versions: "< 2.0.0",
      },
    ]);
    const other = await startMirror({ config });
    expect(await versionsOf(other, "good")).toEqual(["1.0.0"]);
    expect((await locate(other, "good")).status).toBe(204);
    expect((await locate(other, "good", "2.0.0")).status).toBe(451);
    expect(await versionsOf(other, "bad")).toBe(451);
    const refused = await other.get(
      `${moduleBase}/bad/aws/1.0.0/archive.tar.gz`,
    );
    expect(codeOf(refused)).toBe("policy-denied");
  });

  it.each(["Evil/Net/*", "*/nEt/aws"])(
    "denies %s under every spelling, and no other module",
    async (pattern) => {
      const bytes = await tarGz([["main.tf", "# evil"]]);
      const location = scene.origin.serve("/evil.tar.gz", bytes);
      for (const name of ["evil/net", "EVIL/NET", "good/one"])
        scene.origin.publish(`${name}/aws`, "1.0.0", location);
      const rule = {
        match: `registry.terraform.io/${pattern}`,
        action: "deny",
      };
      const config = scene.configOf({ policy: { rules: [rule] } });
      const other = await startMirror({ config });
      const get = (name: string, rest: string) =>
        other.get(`/v1/modules/registry.terraform.io/${name}/aws/${rest}`);
      for (const name of ["evil/net", "Evil/Net", "EVIL/NET"])
        for (const rest of [
          "versions",
          "1.0.0/download",
          "1.0.0/archive.tar.gz",
        ]) {
          const answer = await get(name, rest);
          expect([answer.status, codeOf(answer)]).toEqual([
            451,
            "policy-denied",
          ]);
        }
      expect((await get("good/one", "1.0.0/archive.tar.gz")).status).toBe(200);
    },
  );

  it.each(["enforce", "report"])(
    "counts the versions that it leaves out, or would: %s",
    async (mode) => {
      for (const version of ["1.0.0", "2.0.0", "3.0.0"])
        scene.origin.publish("acme/partly/aws", version, "./partly.zip");
      const match = "registry.terraform.io/acme/partly/aws";
      const rule = { match, action: "deny", versions: ">= 2.0.0" };
      const policy = { mode, rules: [rule] };
      const other = await startMirror({ config: scene.configOf({ policy }) });
      const isEnforced = mode === "enforce";
      const path = `${moduleBase}/partly/aws/versions`;
      for (let time = 0; time < 2; time++)
        expect(await awaitLineOf(other, await other.get(path))).toMatchObject({
          [isEnforced ? "leftOut" : "reported"]: { denied: 2 },
        });
      expect(await versionsOf(other, "partly")).toHaveLength(
        isEnforced ? 1 : 3,
      );
      const lines = await awaitAudit(
        other,
        ({ event }) => event === "left-out",
      );
      expect(lines).toMatchObject([
        {
          module: match,
          verdict: isEnforced ? "refused" : "reported",
          detail: expect.stringMatching(
            /^2 denied; .*3\.0\.0.*2\.0\.0/,
          ) as string,
        },
      ]);
      const why = await other.get(`/why/${match}`);
      expect(why.body.toString().includes("leaves out, denied: 3.0.0")).toBe(
        isEnforced,
      );
    },
  );
});

describe("what the mirror cannot fetch", () => {
  it.each([
    ["other", "oci://example.com/module"],
    ["http", "https://example.com/module"],
    ["s3", "s3::https://s3.amazonaws.com/bucket/m\u00f3dulo.zip"],
    ["http", "https://example.com/module.zip?archive=false"],
    ["http", "https://example.com/m.zip?checksum=file:https://e.com/sums"],
  ])(
    "is passed through, logged and counted: %s, %s",
    async (getter, location) => {
      const name = `foreign${foreign++}`;
      // A letter of a header is a byte.
      const place = Buffer.from(location).toString("latin1");
      scene.origin.publish(`acme/${name}/aws`, "1.0.0", place);
      const series = `provender_modules_passed_through_total{getter="${getter}"}`;
      const counted = async () => (await readMetric(mirror, series)) || 0;
      const before = await counted();
      const answer = await locate(mirror, name);
      expect(answer.status).toBe(204);
      expect(answer.headers["x-terraform-get"]).toBe(place);
      expect(await counted()).toBe(before + 1);
      const line = await awaitLine(mirror, ({ module }) =>
        String(module).includes(`/${name}/`),
      );
      expect(line.getter).toContain(location.split(":")[0]?.slice(0, 3));
    },
  );
  let foreign = 0;
});
