import { describe, expect, it } from "vitest";
import { startMirror } from "../../running-mirror.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import { codeOf, makeModuleScene } from "../../scenes/module-scene.ts";

const hostname = "registry.terraform.io";

const scene = await makeModuleScene();
const open = await startMirror({ config: scene.configOf({}) });
const first = await tarGz([["main.tf", "# first"]]);

describe("policy", () => {
  it.each(["Evil/Net/*", "EVIL/*/*", "*/nEt/aws", "evil/net/aws"])(
    "denies %s under every spelling, and no other module",
    async (pattern) => {
      scene.origin.serve("/evil.tar.gz", first);
      const location = `${scene.origin.url}evil.tar.gz`;
      for (const name of ["evil/net", "EVIL/NET", "good/one"])
        scene.origin.publish(`${name}/aws`, "1.0.0", location);
      const rule = { match: `${hostname}/${pattern}`, action: "deny" };
      const config = scene.configOf({ policy: { rules: [rule] } });
      const mirror = await startMirror({ config });
      const get = (name: string, rest: string) =>
        mirror.get(`/v1/modules/${hostname}/${name}/aws/${rest}`);
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
});

describe("versions", () => {
  it.each([
    ["v1.2.0", "1.2.0", "1.2.0"],
    ["1.2", "1.2.0", "1.2.0"],
    ["v1.2.0", "v1.2.0", "1.2.0"],
    ["v2", "v2", "2.0.0"],
    ["01.2.3", "01.2.3", "1.2.3"],
    ["v1.0.0-rc1", "1.0.0-rc1", "1.0.0-rc1"],
    ["1.4.0.0", "1.4.0.0", "1.4.0"],
    ["1.5.0beta2", "1.5.0beta2", "1.5.0-beta2"],
    ["v1.6+build", "v1.6+build", "1.6.0+build"],
  ])(
    "that a registry lists as %s and has as %s are %s for clients",
    async (listed, held, version) => {
      const { origin } = scene;
      const name = `spelled/v${`${listed}-${held}`.replaceAll(/[.+]/g, "-")}/aws`;
      const location = origin.serve("/spelled.tar.gz", first);
      origin.publish(name, held, location);
      const versions = [
        { version: listed },
        { version: "latest" },
        ...[{ version: 5 }, { versions: "1.0.0" }, "3.0.0", null],
        { version: "1.2.3.4" },
      ];
      origin.answer(`/v1/modules/${name}/versions`, {
        modules: [{ versions }],
      });
      const get = (rest: string) =>
        open.get(`/v1/modules/${hostname}/${name}/${rest}`);
      const list = await get("versions");
      expect(JSON.parse(list.body.toString())).toMatchObject({
        modules: [{ versions: [{ version }] }],
      });
      expect((await get(`${version}/archive.tar.gz`)).status).toBe(200);
    },
  );
});
