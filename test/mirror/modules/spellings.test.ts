import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseSha256 } from "../../../src/address/hash.ts";
import { moduleAddress } from "../../../src/address/module-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { ModuleArchiveRecords } from "../../../src/mirror/modules/records.ts";
import type { ModuleReleaseAddress } from "../../../src/mirror/modules/release.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { prepareStorageDirectory } from "../../../src/store/storage-directory.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import { scratch } from "../../running-mirror.ts";
import {
  codeOf,
  makeModuleScene,
  withMirror,
  type ModuleScene,
} from "../../scenes/module-scene.ts";

const hostname = "registry.terraform.io";
const version = parseVersion("1.0.0");

let scene: ModuleScene;
let first: Buffer;
let next: Buffer;

beforeAll(async () => {
  scene = await makeModuleScene();
  first = await tarGz([["main.tf", "# first"]]);
  next = await tarGz([["main.tf", "# next"]]);
});

afterAll(() => scene.origin.stop());

/** The key of a record that an earlier version of the mirror kept under the letters that it was asked for. */
function written(namespace: string, name: string): ModuleReleaseAddress {
  const address = moduleAddress(hostname, namespace, name, "aws");
  return { module: { ...address, namespace, name }, version };
}

const archiveOf = (bytes: Buffer) => ({
  sha256: parseSha256(createHash("sha256").update(bytes).digest("hex")),
  format: "tar.gz" as const,
  subdirectory: "",
  commit: undefined,
});

async function recordsIn(directory: string): Promise<ModuleArchiveRecords> {
  const layout = layOutStore(directory);
  await prepareStorageDirectory(layout);
  return new ModuleArchiveRecords(new DiskRecords(layout));
}

const foreign = { foreign: "s3" };
const asked = ["acme/old", "ACME/Old", "acME/OLD"];

describe("a module that was seen first under another spelling", () => {
  const spellings = [
    ["ACME", "old"],
    ["acme", "Old"],
    ["Acme", "OLD"],
    ["acme", "old"],
  ] as const;
  it.each(spellings)("%s/%s is held to that content", async (...spelling) => {
    const directory = scratch("store");
    const records = await recordsIn(directory);
    await records.keep(written(...spelling), archiveOf(first), undefined);
    const config = scene.configOf({ freshness: { versions: "0s" } });
    const place = scene.origin.url;
    await withMirror({ config, directory }, async (mirror) => {
      const get = (name: string, rest: string) =>
        mirror.get(`/v1/modules/${hostname}/${name}/aws/1.0.0/${rest}`);
      for (const location of [`${place}next.tar.gz`, "s3::https://a/b.zip"]) {
        scene.origin.serve("/next.tar.gz", next);
        scene.origin.publish("acme/old/aws", "1.0.0", location);
        for (const name of asked)
          for (const rest of ["download", "archive.tar.gz"]) {
            const answer = await get(name, rest);
            expect([answer.status, codeOf(answer)]).toEqual([
              451,
              "module-replaced",
            ]);
          }
      }
      scene.origin.publish("acme/old/aws", "1.0.0", `${place}first.tar.gz`);
      scene.origin.serve("/first.tar.gz", first);
      for (const name of asked)
        expect((await get(name, "archive.tar.gz")).body).toEqual(first);
    });
  });

  it("is found and listed, and an archive counts more than that only clients could have it", async () => {
    const records = await recordsIn(scratch("store"));
    const keep = async (
      [namespace, name]: readonly [string, string],
      what: ReturnType<typeof archiveOf> | typeof foreign,
    ) => records.keep(written(namespace, name), what, undefined);
    const { module } = written("acme", "old");
    expect(await records.read({ module, version })).toBeUndefined();
    await keep(["ACME", "old"], foreign);
    expect(await records.read({ module, version })).toEqual(foreign);
    await keep(["acme", "old"], foreign);
    await keep(["acme", "Old"], archiveOf(first));
    expect(await records.read({ module, version })).toEqual(archiveOf(first));
    await keep(["acme", "older"], archiveOf(next));
    expect(await records.listVersions(module)).toEqual([version]);
    await keep(["acme", "old"], archiveOf(next));
    expect(await records.read({ module, version })).toEqual(archiveOf(next));
  });
});

describe("policy", () => {
  it.each(["Evil/Net/*", "EVIL/*/*", "*/nEt/aws", "evil/net/aws"])(
    "denies %s under every spelling, and nobody else",
    async (pattern) => {
      scene.origin.serve("/evil.tar.gz", first);
      const location = `${scene.origin.url}evil.tar.gz`;
      for (const name of ["evil/net", "EVIL/NET", "good/one"])
        scene.origin.publish(`${name}/aws`, "1.0.0", location);
      const rule = { match: `${hostname}/${pattern}`, action: "deny" };
      const config = scene.configOf({ policy: { rules: [rule] } });
      await withMirror({ config }, async (mirror) => {
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
        expect((await get("good/one", "1.0.0/archive.tar.gz")).status).toBe(
          200,
        );
      });
    },
  );
});
