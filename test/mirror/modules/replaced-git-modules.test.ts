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

describe("where an archive is pinned, which is gone", () => {
  const archive = () => url("kept.tar.gz");

  it.each<[string, string, () => string]>([
    ["s3", "s3::https://s3.amazonaws.com/bucket/module.zip", archive],
    ["a page", "https://example.com/module", archive],
    ["mercurial", "hg::https://example.com/module?rev=1", archive],
    ["a repository with submodules", withSubmodules, archive],
    [
      "a repository with submodules, of a folder",
      withSubmodules,
      () => `${url("kept.tar.gz")}//modules/vpc`,
    ],
  ])("%s in its place is refused", async (_, place, first) => {
    const bytes = await tarGz([["main.tf", "# archive"]]);
    scene.origin.serve("/kept.tar.gz", bytes);
    const config = scene.configOf({ freshness: { versions: "0s" } });
    publish(first());
    const mirror = await startMirror({ config });
    expect((await getArchive(mirror, "kept")).body).toEqual(bytes);
    publish(place);
    expect((await getArchive(mirror, "kept")).body).toEqual(bytes);
    await removeBlobs(mirror);
    for (const ask of [locate, getArchive]) {
      const answer = await ask(mirror, "kept");
      expect(answer.status).toBe(451);
      expect(codeOf(answer)).toBe("module-replaced");
    }
    const metrics = (await mirror.get("/metrics")).body.toString();
    expect(metrics).toContain('alarms_total{kind="module-replaced"} 1');
    publish(first());
    expect((await getArchive(mirror, "kept")).body).toEqual(bytes);
  });

  it("a repository with submodules changes nothing where its own repository still has the pinned commit", async () => {
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
