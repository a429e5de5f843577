import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { extract } from "tar-stream";
import { beforeEach, describe, expect, it } from "vitest";
import { GitRepository, gitBackend } from "../../fakes/git-http.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  codeOf,
  getArchive,
  locate,
  makeModuleScene,
  placeOf,
  removeBlobs,
} from "../../scenes/module-scene.ts";
import { readMetric } from "../../scenes/provider-requests.ts";

/** The status with which every repository asks for a login. */
let closed: number | undefined;
beforeEach(() => (closed = undefined));

const root = scratch("git");
const backend = gitBackend(root);
const scene = await makeModuleScene(async (request, response) => {
  if (closed === undefined) return backend(request, response);
  response.writeHead(closed, { "WWW-Authenticate": "Basic" }).end();
});
const mirror = await startMirror({ config: scene.configOf() });
const asksAlways = scene.configOf({ freshness: { versions: "0s" } });

const repositoryAt = (name: string) => GitRepository.create(join(root, name));

const gitUrl = (name: string, rest = "") =>
  `git::${scene.origin.url}git/${name}/.git${rest}`;

const publish = (module: string, location: string) =>
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", location);

/** Where clients are sent. */
const placeFor = async (module: string, asked = mirror) =>
  (await locate(asked, module)).headers["x-terraform-get"];

const alarmsOf = (asked: RunningMirror) =>
  readMetric(asked, 'provender_alarms_total{kind="module-replaced"}');

/** Names and contents of an archive's files. */
async function unpack(bytes: Buffer) {
  const files: Record<string, string> = {};
  const entries = extract();
  entries.end(gunzipSync(bytes));
  for await (const entry of entries)
    files[entry.header.name] = await text(entry);
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
      publish(module, gitUrl("refs", query));
      const file = `archive.tar.gz${module === "tag" ? "//modules/vpc" : ""}`;
      expect(await placeFor(module)).toBe(placeOf(mirror, module, file));
      const { body } = await getArchive(mirror, module);
      const text = module.endsWith("head") ? "# two" : "# one";
      expect(await unpack(body), module).toEqual({ "main.tf": text });
    }
    const bodies = ["tag", "short"].map((module) => getArchive(mirror, module));
    const [one, other] = await Promise.all(bodies);
    expect(one?.body).toEqual(other?.body);
  });

  // What people see of it: test/commands/trust/module-contents.test.ts.
  it("keep their first content when the tag moves, with one alarm", async () => {
    const repository = await repositoryAt("moved");
    await repository.commit({ "main.tf": "# first" }, "v1");
    publish("moved", gitUrl("moved", "?ref=v1"));
    const other = await startMirror({ config: asksAlways });
    await locate(other, "moved");
    const before = (await getArchive(other, "moved")).body;
    await repository.commit({ "main.tf": "# next" }, "v1");
    for (let asked = 0; asked < 3; asked++)
      expect((await locate(other, "moved")).status).toBe(204);
    expect(await alarmsOf(other)).toBe(1);
    await removeBlobs(other);
    expect((await getArchive(other, "moved")).body).toEqual(before);
  });

  it("follow a renamed repository, and are passed through when they have submodules", async () => {
    const repository = await repositoryAt("renamed");
    await repository.commit({ "main.tf": "# renamed" });
    const query = "/.git/info/refs?service=git-upload-pack";
    const end = `${scene.origin.url}git/renamed${query}`;
    scene.origin.redirect("/old/.git/info/refs", end);
    publish("renamed", `git::${scene.origin.url}old/.git`);
    expect((await locate(mirror, "renamed")).status).toBe(204);

    await repository.addSubmodule("sub");
    await repository.commit({});
    publish("submodules", gitUrl("renamed"));
    expect(await placeFor("submodules")).toBe(gitUrl("renamed"));
  });

  it("fail as the origin fails: no such ref, no such repository, and nothing is remembered", async () => {
    const repository = await repositoryAt("late");
    await repository.commit({ "main.tf": "# late" });
    for (const module of ["late", "nowhere"]) {
      publish(module, gitUrl(module, "?ref=v9"));
      expect((await locate(mirror, module)).status).toBe(502);
    }
    await repository.git("tag", "v9");
    expect((await locate(mirror, "late")).status).toBe(204);
  });

  it("may not be larger than limits.gitRepository", async () => {
    const repository = await repositoryAt("large");
    const noise = randomBytes(200_000).toString("base64");
    await repository.commit({ "a.tf": `# ${noise}` }, "v1");
    publish("large", gitUrl("large", "?ref=v1"));
    const limits = { gitRepository: 100 * 1024 };
    const other = await startMirror({ config: scene.configOf(), limits });
    const answer = await locate(other, "large");
    expect(answer.status).toBe(502);
    expect(answer.body.toString()).toContain("it is too large");
  });
});

describe("a repository that asks for a login", async () => {
  const repository = await repositoryAt("private");
  const commit = await repository.commit({ "main.tf": "# private" }, "v1");

  it.each([401, 403])(
    "with %i is passed through to clients, who may have one",
    async (status) => {
      closed = status;
      const places = [
        ...["?ref=v1", `?ref=${commit}`, ""].map((rest) =>
          gitUrl("private", rest),
        ),
        `${scene.origin.url}git/private.zip?token=clients-own`,
      ];
      for (const [index, place] of places.entries()) {
        publish(`login${index}-${status}`, place);
        expect(await placeFor(`login${index}-${status}`)).toBe(place);
      }
    },
  );

  it("later than it was fetched is not passed by", async () => {
    const own = placeOf(mirror, "closed", "archive.tar.gz");
    publish("closed", gitUrl("private", "?ref=v1"));
    expect(await placeFor("closed")).toBe(own);
    expect((await getArchive(mirror, "closed")).status).toBe(200);
    closed = 401;
    expect(await placeFor("closed")).toBe(own);
    // The content is pinned, so that nobody gets another one past the mirror.
    await removeBlobs(mirror);
    const answer = await locate(mirror, "closed");
    expect([answer.status, codeOf(answer)]).toEqual([
      502,
      "origin-credentials",
    ]);
  });

  it("and opens later is fetched", async () => {
    publish("opened", gitUrl("private", `?ref=${commit}`));
    closed = 401;
    expect(await placeFor("opened")).toContain("git::");
    closed = undefined;
    const own = placeOf(mirror, "opened", "archive.tar.gz");
    expect(await placeFor("opened")).toBe(own);
  });

  it("which its place has is the clients' own", async () => {
    const place = gitUrl("private").replace("//", "//me:secret@");
    publish("given", place);
    expect(await placeFor("given")).toBe(place);
    expect(JSON.stringify(mirror.log)).not.toContain("secret");
  });
});

describe("in place of what is pinned and gone", async () => {
  const plain = await repositoryAt("plain");
  await plain.commit({ "main.tf": "# plain" }, "v1");
  const parent = await repositoryAt("parent");
  await parent.commit({ "main.tf": "# parent" });
  await parent.addSubmodule("sub");
  await parent.commit({}, "v1");
  const withSubmodules = gitUrl("parent", "?ref=v1");
  const archive = `${scene.origin.url}kept.tar.gz`;

  it.each([
    ["s3", "s3::https://s3.amazonaws.com/bucket/module.zip", archive],
    ["a repository with submodules", withSubmodules, archive],
    ["the same, of a folder", withSubmodules, `${archive}//modules/vpc`],
  ])("%s is refused where an archive was", async (_, place, first) => {
    const bytes = await tarGz([["main.tf", "# archive"]]);
    scene.origin.serve("/kept.tar.gz", bytes);
    publish("kept", first);
    const other = await startMirror({ config: asksAlways });
    expect((await getArchive(other, "kept")).body).toEqual(bytes);
    publish("kept", place);
    expect((await getArchive(other, "kept")).body).toEqual(bytes);
    await removeBlobs(other);
    for (const ask of [locate, getArchive]) {
      const answer = await ask(other, "kept");
      expect([answer.status, codeOf(answer)]).toEqual([451, "module-replaced"]);
    }
    expect(await alarmsOf(other)).toBe(1);
    publish("kept", first);
    expect((await getArchive(other, "kept")).body).toEqual(bytes);
  });

  it("a repository with submodules changes nothing where its own repository still has the pinned commit", async () => {
    publish("kept", gitUrl("plain", "?ref=v1"));
    const other = await startMirror({ config: asksAlways });
    const { body } = await getArchive(other, "kept");
    publish("kept", withSubmodules);
    await removeBlobs(other);
    expect((await locate(other, "kept")).status).toBe(204);
    expect((await getArchive(other, "kept")).body).toEqual(body);
  });
});
