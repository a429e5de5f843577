import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { extract } from "tar-stream";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GitRepository, gitBackend } from "../../fakes/git-http.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import { awaitLine } from "../../scenes/log-lines.ts";
import {
  getArchive,
  locate,
  makeModuleScene,
  placeOf,
  removeBlobs,
} from "../../scenes/module-scene.ts";

const root = scratch("git");
const scene = await makeModuleScene(gitBackend(root));
const mirror = await startMirror({ config: scene.configOf() });

const repositoryAt = (name: string) => GitRepository.create(join(root, name));

const gitUrl = (name: string) => `git::${scene.origin.url}git/${name}/.git`;

const publish = (module: string, location: string, version = "1.0.0") =>
  scene.origin.publish(`acme/${module}/aws`, version, location);

/** Names and contents of an archive's files. */
async function unpack(
  bytes: Buffer,
): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  const entries = extract();
  entries.end(gunzipSync(bytes));
  for await (const entry of entries) {
    const content = await text(entry);
    if (entry.header.type === "file") files[entry.header.name] = content;
  }
  return files;
}

describe("modules from git", () => {
  it("are packed from a tag, a branch, a commit, its first digits and the default branch", async () => {
    const repository = await repositoryAt("refs");
    const first = await repository.commit({ "main.tf": "# one" }, "v1.0.0");
    await repository.git("tag", "--annotate", "-m", "two", "v1.0.0-annotated");
    await repository.git("branch", "feature/x");
    await repository.git("branch", "v1@(a)+b");
    await repository.git("tag", `it's-"a"&b$1`);
    await repository.commit({ "main.tf": "# two" });
    const refs = {
      tag: "//modules/vpc?ref=v1.0.0",
      annotated: "?ref=v1.0.0-annotated&depth=1",
      branch: "?ref=feature/x",
      commit: `?ref=${first}`,
      short: `?ref=${first.slice(0, 8)}`,
      shorter: `?ref=${first.slice(0, 5)}`,
      shouted: `?ref=${first.toUpperCase()}`,
      described: `?ref=v1.0.0-0-g${first.slice(0, 8)}`,
      odd: "?ref=v1@(a)%2Bb",
      "remote-in-full": "?ref=refs/remotes/origin/feature/x",
      "below-tags": "?ref=tags/v1.0.0",
      "tag-in-full": "?ref=refs/tags/v1.0.0-annotated",
      "below-heads": "?ref=heads/feature/x",
      "remote-branch": "?ref=origin/feature/x",
      quoted: "?ref=it's-%22a%22%26b$1",
      head: "",
      "remote-head": "?ref=origin/HEAD",
    };
    for (const [module, query] of Object.entries(refs)) {
      publish(module, gitUrl("refs") + query);
      const { headers } = await locate(mirror, module);
      const file = `archive.tar.gz${module === "tag" ? "//modules/vpc" : ""}`;
      expect(headers["x-terraform-get"]).toBe(placeOf(mirror, module, file));
      const { body } = await getArchive(mirror, module);
      const text = module.endsWith("head") ? "# two" : "# one";
      expect(await unpack(body), module).toEqual({ "main.tf": text });
    }
    const bodies = await Promise.all(
      ["tag", "short"].map(async (module) => getArchive(mirror, module)),
    );
    expect(bodies[0]?.body).toEqual(bodies[1]?.body);
  });

  it("keep their first content when the tag moves, with one alarm", async () => {
    const repository = await repositoryAt("moved");
    await repository.commit({ "main.tf": "# first" }, "v1");
    publish("moved", `${gitUrl("moved")}?ref=v1`);
    const config = scene.configOf({ freshness: { versions: "0s" } });
    const other = await startMirror({ config });
    await locate(other, "moved");
    const before = (await getArchive(other, "moved")).body;
    const second = await repository.commit({ "main.tf": "# next" }, "v1");
    for (let asked = 0; asked < 3; asked++)
      expect((await locate(other, "moved")).status).toBe(204);
    expect((await getArchive(other, "moved")).body).toEqual(before);
    const line = await awaitLine(
      other,
      ({ alarm }) => alarm === "module-replaced",
    );
    expect(line).toMatchObject({
      module: "registry.terraform.io/acme/moved/aws",
      version: "1.0.0",
      offered: second,
      approve: `provender trust approve registry.terraform.io/acme/moved/aws@1.0.0 ${second.slice(0, 16)}`,
    });
    const metrics = (await other.get("/metrics")).body.toString();
    expect(metrics).toContain('kind="module-replaced"} 1');

    await removeBlobs(other);
    expect((await getArchive(other, "moved")).body).toEqual(before);
  });

  it("follow a renamed repository, and are passed through when they have submodules", async () => {
    const repository = await repositoryAt("renamed");
    await repository.commit({ "main.tf": "# renamed" });
    const query = "/.git/info/refs?service=git-upload-pack";
    scene.origin.redirect(
      "/old/.git/info/refs",
      `${scene.origin.url}git/renamed${query}`,
    );
    publish("renamed", `git::${scene.origin.url}old/.git`);
    expect((await locate(mirror, "renamed")).status).toBe(204);

    await repository.addSubmodule("sub");
    await repository.commit({});
    publish("submodules", gitUrl("renamed"));
    const answer = await locate(mirror, "submodules");
    expect(answer.headers["x-terraform-get"]).toBe(gitUrl("renamed"));
  });

  it("fail as the origin fails: no such ref, no such repository, and nothing is remembered", async () => {
    const repository = await repositoryAt("late");
    await repository.commit({ "main.tf": "# late" });
    publish("late", `${gitUrl("late")}?ref=v9`);
    expect((await locate(mirror, "late")).status).toBe(502);
    publish("nowhere", `${gitUrl("nowhere")}?ref=v9`);
    expect((await locate(mirror, "nowhere")).status).toBe(502);
    await repository.git("tag", "v9");
    expect((await locate(mirror, "late")).status).toBe(204);
  });

  it("may not be larger than limits.gitRepository", async () => {
    const repository = await repositoryAt("large");
    const noise = randomBytes(200_000).toString("base64");
    await repository.commit({ "a.tf": `# ${noise}` }, "v1");
    publish("large", `${gitUrl("large")}?ref=v1`);
    const limits = { gitRepository: 100 * 1024 };
    const other = await startMirror({ config: scene.configOf(), limits });
    const answer = await locate(other, "large");
    expect(answer.status).toBe(502);
    expect(answer.body.toString()).toContain("it is too large");
  });
});
