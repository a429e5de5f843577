import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GitRepository, gitBackend } from "../../fakes/git-http.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import { scratch } from "../../running-mirror.ts";
import {
  codeOf,
  getArchive,
  locate,
  makeModuleScene,
  removeBlobs,
  withMirror,
  type ModuleScene,
} from "../../scenes/module-scene.ts";

let scene: ModuleScene;
let root: string;
let withSubmodules: string;
let without: string;

beforeAll(async () => {
  root = scratch("git");
  scene = await makeModuleScene(gitBackend(root));
  const plain = await GitRepository.create(join(root, "plain"));
  await plain.commit({ "main.tf": "# plain" }, "v1");
  without = `git::${scene.origin.url}git/plain/.git?ref=v1`;
  const parent = await GitRepository.create(join(root, "parent"));
  await parent.commit({ "main.tf": "# parent" });
  const allowed = ["-c", "protocol.file.allow=always"];
  await parent.git(...allowed, "submodule", "add", plain.folder, "sub");
  await parent.commit({}, "v1");
  withSubmodules = `git::${scene.origin.url}git/parent/.git?ref=v1`;
});

afterAll(() => scene.origin.stop());

/** Where the registry says that releases are; a restored store may not have it. */
async function forgetPlaces(directory: string): Promise<void> {
  for (const copy of ["records", "record-copies"]) {
    const path = "v1/modules/registry.terraform.io/acme/kept/aws/releases";
    await rm(join(directory, copy, path), { recursive: true });
  }
}

const url = (path: string) => `${scene.origin.url}${path}`;

describe("a repository with submodules", () => {
  it.each<[string, () => string]>([
    ["an archive", () => url("kept.tar.gz")],
    ["a folder of an archive", () => `${url("kept.tar.gz")}//modules/vpc`],
    ["a repository without", () => without],
  ])("is refused where %s was seen first", async (_, first) => {
    const bytes = await tarGz([["main.tf", "# archive"]]);
    scene.origin.serve("/kept.tar.gz", bytes);
    const config = scene.configOf({ freshness: { versions: "0s" } });
    const publish = (place: string) =>
      scene.origin.publish("acme/kept/aws", "1.0.0", place);
    publish(first());
    const directory = scratch("store");
    const options = { config, directory };
    let before: Buffer | undefined;
    await withMirror(options, async (mirror) => {
      before = (await getArchive(mirror, "kept")).body;
      publish(withSubmodules);
      expect((await getArchive(mirror, "kept")).body).toEqual(before);
      await removeBlobs(mirror);
    });
    await forgetPlaces(directory);
    await withMirror(options, async (mirror) => {
      for (const ask of [locate, getArchive]) {
        const answer = await ask(mirror, "kept");
        expect(answer.status).toBe(451);
        expect(codeOf(answer)).toBe("module-replaced");
      }
    });
    publish(first());
    await forgetPlaces(directory);
    await withMirror(options, async (mirror) => {
      expect((await getArchive(mirror, "kept")).body).toEqual(before);
    });
  });
});
