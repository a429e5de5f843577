import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GitRepository, gitBackend } from "../../fakes/git-http.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import {
  codeOf,
  getArchive,
  locate,
  makeModuleScene,
  removeBlobs,
} from "../../scenes/module-scene.ts";

const root = scratch("git");
const scene = await makeModuleScene(gitBackend(root));
const plain = await GitRepository.create(join(root, "plain"));
await plain.commit({ "main.tf": "# plain" }, "v1");
const without = `git::${scene.origin.url}git/plain/.git?ref=v1`;
const parent = await GitRepository.create(join(root, "parent"));
await parent.commit({ "main.tf": "# parent" });
await parent.addSubmodule("sub");
await parent.commit({}, "v1");
const withSubmodules = `git::${scene.origin.url}git/parent/.git?ref=v1`;

const url = (path: string) => `${scene.origin.url}${path}`;

const publish = (place: string) =>
  scene.origin.publish("acme/kept/aws", "1.0.0", place);

describe("a repository with submodules", () => {
  it.each<[string, () => string]>([
    ["an archive", () => url("kept.tar.gz")],
    ["a folder of an archive", () => `${url("kept.tar.gz")}//modules/vpc`],
  ])("is refused where %s is pinned", async (_, first) => {
    const bytes = await tarGz([["main.tf", "# archive"]]);
    scene.origin.serve("/kept.tar.gz", bytes);
    const config = scene.configOf({ freshness: { versions: "0s" } });
    publish(first());
    const mirror = await startMirror({ config });
    expect((await getArchive(mirror, "kept")).body).toEqual(bytes);
    publish(withSubmodules);
    expect((await getArchive(mirror, "kept")).body).toEqual(bytes);
    await removeBlobs(mirror);
    for (const ask of [locate, getArchive]) {
      const answer = await ask(mirror, "kept");
      expect(answer.status).toBe(451);
      expect(codeOf(answer)).toBe("module-replaced");
    }
    publish(first());
    expect((await getArchive(mirror, "kept")).body).toEqual(bytes);
  });

  it("changes nothing where a commit is pinned, which its own repository still has", async () => {
    const config = scene.configOf({ freshness: { versions: "0s" } });
    publish(without);
    const mirror = await startMirror({ config });
    const { body } = await getArchive(mirror, "kept");
    publish(withSubmodules);
    await removeBlobs(mirror);
    expect((await locate(mirror, "kept")).status).toBe(204);
    expect((await getArchive(mirror, "kept")).body).toEqual(body);
  });
});
