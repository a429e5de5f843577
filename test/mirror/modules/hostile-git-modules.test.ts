import { existsSync } from "node:fs";
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
    `$(${run})`,
    `;${run}`,
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
    ["git::--upload-pack=x", 451],
    ["git::https://127.0.0.1:1/x", 502],
    ["git::https://10.0.0.1/x", 502],
    ["git::https://localhost/x", 502],
    ["https://169.254.169.254/latest/x.zip", 502],
    ["https://user:secret@example.com/x.zip", 502],
  ])("%s is answered with an error", async (location, status) => {
    expect(await ask(location)).toBe(status);
  });

  it("behind a redirect to a private address are refused", async () => {
    scene.origin.redirect("/moved/info/refs", "https://10.0.0.1/x/info/refs");
    expect(await ask(`git::${scene.origin.url}moved`)).toBe(502);
  });
});

describe("hostile repositories", () => {
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
