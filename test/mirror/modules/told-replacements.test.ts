import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GitRepository, gitBackend } from "../../fakes/git-http.ts";
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
} from "../../scenes/module-scene.ts";
import { countAlarms, readAudit } from "../../scenes/provider-requests.ts";

const kind = "module-replaced";

const root = scratch("git");
const scene = await makeModuleScene(gitBackend(root));

/** From now on the release's archive is this. */
async function offer(module: string, content: string): Promise<void> {
  const bytes = await tarGz([["main.tf", `# ${content}`]]);
  const url = scene.origin.serve(`/${module}.tar.gz`, bytes);
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", url);
}

const decisionsOf = (mirror: RunningMirror, module: string) =>
  readAudit(mirror).filter(
    (line) =>
      line.event === "replaced" &&
      line.module === `registry.terraform.io/acme/${module}/aws`,
  );

describe("a module that its origin replaced is reported once for each other content", () => {
  it("however many ask, with one line among the decisions, also after a restart", async () => {
    const directory = scratch("store");
    const config = scene.configOf({ freshness: { versions: "0s" } });
    await offer("asked", "first");
    const mirror = await startMirror({ config, directory });
    expect((await getArchive(mirror, "asked")).status).toBe(200);
    await removeBlobs(mirror);
    await offer("asked", "other");
    for (let time = 0; time < 10; time++)
      for (const ask of [locate, getArchive])
        expect((await ask(mirror, "asked")).status).toBe(451);
    expect(await countAlarms(mirror, kind)).toBe(1);
    const lines = mirror.log.filter(({ alarm }) => alarm === kind);
    expect(lines).toHaveLength(1);
    expect(decisionsOf(mirror, "asked")).toEqual([
      expect.objectContaining({
        verdict: "refused",
        version: "1.0.0",
        rule: "pinned checksums",
        detail: expect.stringMatching(/^SHA-256 \w{64}$/) as unknown,
      }),
    ]);
    await mirror.stop();
    const again = await startMirror({ config, directory });
    expect((await getArchive(again, "asked")).status).toBe(451);
    expect(await countAlarms(again, kind)).toBe(0);
    expect(decisionsOf(again, "asked")).toHaveLength(1);
  });

  it("also when a tag moves to and fro, while the first keeps serving", async () => {
    const repository = await GitRepository.create(join(root, "moving"));
    const place = `git::${scene.origin.url}git/moving/.git?ref=v1`;
    scene.origin.publish("acme/moving/aws", "1.0.0", place);
    await repository.commit({ "main.tf": "# first" }, "v1");
    const config = scene.configOf({ freshness: { versions: "0s" } });
    const mirror = await startMirror({ config });
    const first = (await getArchive(mirror, "moving")).body;
    const second = await repository.commit({ "main.tf": "# 2" }, "v1");
    await locate(mirror, "moving");
    const third = await repository.commit({ "main.tf": "# 3" }, "v1");
    await locate(mirror, "moving");
    for (const commit of [second, third, second]) {
      await repository.git("tag", "--force", "v1", commit);
      expect((await locate(mirror, "moving")).status).toBe(204);
    }
    expect((await getArchive(mirror, "moving")).body).toEqual(first);
    expect(await countAlarms(mirror, kind)).toBe(2);
    expect(decisionsOf(mirror, "moving")).toHaveLength(2);
  });
});
