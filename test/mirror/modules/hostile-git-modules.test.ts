import { existsSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GitRepository, gitBackend } from "../../fakes/git-http.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import {
  countFiles,
  locate,
  makeModuleScene,
} from "../../scenes/module-scene.ts";

const root = scratch("git");
const mark = join(scratch("outside"), "mark");
const scene = await makeModuleScene(gitBackend(root));
const repository = await GitRepository.create(join(root, "good"));
await repository.commit({ "main.tf": "# good" }, "v1");
const mirror = await startMirror({ config: scene.configOf() });

let published = 0;

/** The status, after it is certain that nothing was kept, written elsewhere or run. */
async function ask(location: string): Promise<number> {
  const module = `hostile${published++}`;
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", location);
  const before = await countFiles(mirror, "blobs");
  const { status, body } = await locate(mirror, module);
  if (status === 451)
    expect(body.toString()).toContain(`/acme/${module}/aws 1.0.0 is refused`);
  expect(await countFiles(mirror, "blobs")).toBe(before);
  expect(await readdir(join(mirror.directory, "staging"))).toEqual([]);
  expect(existsSync(mark)).toBe(false);
  expect(existsSync("/tmp/provender-mark")).toBe(false);
  return status;
}

const run = "touch${IFS}/tmp/provender-mark";

describe("hostile refs", () => {
  // More of them in test/address/module-source.test.ts.
  const refs = [
    "--upload-pack=touch%20/tmp/provender-mark",
    "-c%20core.sshCommand=x",
    `$(${run})`,
    `;${run}`,
    "a..b",
    "a%0Ab",
  ];
  it.each(refs)("%s is refused before git hears of it", async (ref) => {
    const url = `git::${scene.origin.url}git/good/.git?ref=${ref}`;
    const asked = scene.origin.count("/git/");
    expect(await ask(url)).toBe(451);
    expect(scene.origin.count("/git/")).toBe(asked);
  });
});

describe("hostile places", () => {
  it.each([
    ["git::ext::sh%20-c%20touch%20/tmp/provender-mark", 451],
    ["git::fd::17/x", 451],
    ["git::file:///etc", 451],
    ["git::ssh://git@-oProxyCommand=x/y", 451],
    ["git::ssh://git@example.com/$(id)", 451],
    ["git::--upload-pack=x", 451],
    ["git@example.com:--upload-pack=x", 451],
    ["git::https://127.0.0.1:1/x", 502],
    ["git::https://10.0.0.1/x", 502],
    ["git::https://localhost/x", 502],
    ["https://169.254.169.254/latest/x.zip", 502],
    ["https://user:secret@example.com/x.zip", 502],
    ["https://example.com/x.zip//../../etc", 451],
    ["git::https://example.com/x//../y", 451],
  ])("%s is answered with an error", async (location, status) => {
    expect(await ask(location)).toBe(status);
  });

  it("behind a redirect to a private address are refused", async () => {
    scene.origin.redirect("/moved/info/refs", "https://10.0.0.1/x/info/refs");
    expect(await ask(`git::${scene.origin.url}moved`)).toBe(502);
  });
});

describe("hostile repositories", () => {
  /** Git makes such trees only without its checks. */
  async function commitTree(
    name: string,
    entries: readonly (readonly [mode: string, name: string, id: string])[],
  ): Promise<string> {
    const repository = await GitRepository.create(join(root, name));
    const raw = entries.map(([mode, entry, id]) =>
      Buffer.concat([
        Buffer.from(`${mode} ${entry}\0`),
        Buffer.from(id, "hex"),
      ]),
    );
    const file = join(root, `${name}.tree`);
    writeFileSync(file, Buffer.concat(raw));
    const write = ["hash-object", "-t", "tree", "-w", "--literally", file];
    const tree = await repository.git(...write);
    const commit = await repository.git("commit-tree", "-m", "x", tree);
    await repository.git("update-ref", "refs/heads/main", commit);
    return `git::${scene.origin.url}git/${name}/.git`;
  }

  async function blobIn(name: string, text: string): Promise<string> {
    const repository = await GitRepository.create(join(root, name));
    const file = join(root, `${name}.blob`);
    writeFileSync(file, text);
    return repository.git("hash-object", "-w", file);
  }

  it.each([
    ["dots", "100644", "..", "x"],
    ["slash", "100644", "../evil.tf", "x"],
    ["absolute", "100644", "/evil.tf", "x"],
    ["git", "100644", ".git", "gitdir: /tmp"],
    ["shouting", "100644", ".GIT", "gitdir: /tmp"],
    ["backslash", "100644", "..\\evil.tf", "x"],
    ["out", "120000", "link", "../../etc/passwd"],
    ["root", "120000", "link", "/etc/passwd"],
    ["device", "020666", "null", "x"],
  ])("with a tree of %s are not packed", async (name, mode, entry, text) => {
    const id = await blobIn(`tree-${name}`, text);
    const url = await commitTree(`tree-${name}`, [[mode, entry, id]]);
    // Git reads a device as a submodule, and those are not fetched.
    const status = mode === "020666" ? 204 : 451;
    expect(await ask(url)).toBe(status);
  });

  it("with a tree that unfolds to a billion files are given up", async () => {
    let id = await blobIn("bomb", "x");
    const repository = await GitRepository.create(join(root, "bomb"));
    let mode = "100644";
    for (let level = 0; level < 9; level++) {
      const entries = Array.from({ length: 10 }, (_, n) =>
        Buffer.concat([Buffer.from(`${mode} ${n}\0`), Buffer.from(id, "hex")]),
      );
      const file = join(root, "bomb.tree");
      writeFileSync(file, Buffer.concat(entries));
      id = await repository.git("hash-object", "-t", "tree", "-w", file);
      mode = "40000";
    }
    const commit = await repository.git("commit-tree", "-m", "x", id);
    await repository.git("update-ref", "refs/heads/main", commit);
    expect(await ask(`git::${scene.origin.url}git/bomb/.git`)).toBe(451);
  });

  it("run no filter, hook or attribute of theirs", async () => {
    const repository = await GitRepository.create(join(root, "attributes"));
    const filter = `[filter "x"]\n  smudge = touch ${mark}\n`;
    await repository.commit({
      ".gitattributes": "* filter=x diff=x merge=x\n",
      ".gitconfig": `${filter}[core]\n  fsmonitor = touch ${mark}\n`,
      "main.tf": "# x",
    });
    const url = `git::${scene.origin.url}git/attributes/.git`;
    scene.origin.publish("acme/attributes/aws", "1.0.0", url);
    expect((await locate(mirror, "attributes")).status).toBe(204);
    expect(existsSync(mark)).toBe(false);
  });
});

describe("what only clients can fetch", () => {
  it.each([
    "http://files.example/net.zip",
    "s3-eu-west-1.amazonaws.com/bucket/net.zip//sub",
    "git::https://git.example/net.git//m\u00f3dulo?ref=v1",
    "git::ssh://git@git.example/net.git?ref=v1.0.0",
    "git@git.example:acme/net.git",
    "git::http://git.example/net.git",
    "git::git://git.example/net.git",
    "git::https://git.example/net.git?ref=main~1",
  ])("is for clients alone, unchanged: %s", async (place) => {
    const module = `others${published++}`;
    // A letter of a header is a byte.
    const location = Buffer.from(place).toString("latin1");
    scene.origin.publish(`acme/${module}/aws`, "1.0.0", location);
    const answer = await locate(mirror, module);
    expect(answer.status).toBe(204);
    expect(answer.headers["x-terraform-get"]).toBe(location);
  });
});
