import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, globSync, readlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GitRepository, gitBackend } from "../../fakes/git-http.ts";
import {
  blobOf,
  commitOf,
  copies,
  gitId,
  packBackend,
  packOf,
  treeOf,
  type PackObject,
} from "../../fakes/git-pack.ts";
import type { GitBackend } from "../../fakes/registry.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import {
  countFiles,
  locate,
  makeModuleScene,
} from "../../scenes/module-scene.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";

/** A server of a repository of one file, whose pack has these objects, too. */
function sends(
  others: readonly PackObject[] = [],
  content = Buffer.from("# module"),
): GitBackend {
  const file = blobOf(content);
  const tree = treeOf([["100644 main.tf", gitId(file)]]);
  const commit = commitOf(tree);
  return packBackend(commit, packOf([commit, tree, file, ...others]));
}

let backend = sends();
let published = 0;

const scene = await makeModuleScene((req, res) => backend(req, res));
const mirror = await startMirror({ config: scene.configOf() });

const gitAt = (path = "git/repository") => `git::${scene.origin.url}${path}`;

/** The answer, after it is certain that nothing was kept of what is refused, and that nothing runs any longer. */
async function ask(location = gitAt(), asked = mirror) {
  const module = `hostile${published++}`;
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", location);
  const before = await countFiles(asked, "blobs");
  const answer = await locate(asked, module);
  if (answer.status !== 204)
    expect(await countFiles(asked, "blobs")).toBe(before);
  expect(await readdir(join(asked.directory, "staging"))).toEqual([]);
  if (process.platform === "linux")
    expect(processesBelow(asked.directory)).toEqual([]);
  return answer;
}

const mark = join(scratch("mark"), "mark");

// More of them in test/address/module-source.test.ts.
it.each([
  `git::ext::sh%20-c%20touch%20${mark}`,
  `${gitAt()}?ref=--upload-pack=touch%20${mark}`,
  `${gitAt()}?ref=$(touch\${IFS}${mark})`,
])("%s is refused before git hears of it", async (location) => {
  const asked = scene.origin.count("/git/");
  expect(outcomeOf(await ask(location))).toBe("451 module-source-refused");
  expect(scene.origin.count("/git/")).toBe(asked);
  expect(existsSync(mark)).toBe(false);
});

it.each([
  "git::https://127.0.0.1:1/x",
  "git::https://localhost/x",
  gitAt("moved"),
])("%s is not asked", async (location) => {
  scene.origin.redirect("/moved/info/refs", "https://10.0.0.1/x/info/refs");
  expect((await ask(location)).status).toBe(502);
});

it("a repository's own filters and hooks do not run", async () => {
  const root = scratch("git");
  const repository = await GitRepository.create(join(root, "attributes"));
  const filter = `[filter "x"]\n  smudge = touch ${mark}\n`;
  await repository.commit({
    ".gitattributes": "* filter=x diff=x merge=x\n",
    ".gitconfig": `${filter}[core]\n  fsmonitor = touch ${mark}\n`,
    "main.tf": "# x",
  });
  backend = gitBackend(root);
  expect((await ask(gitAt("git/attributes/.git"))).status).toBe(204);
  expect(existsSync(mark)).toBe(false);
});

const small = 2 ** 16;
const large = 2 ** 23;

it.each<[string, readonly PackObject[]]>([
  [
    "whose changes unfold to more than the memory",
    [
      blobOf(Buffer.alloc(small)),
      copies(small, small, 128),
      copies(large, large, 128),
      copies(large * 128, large, 200),
    ],
  ],
  [
    "with a tree that says it has 2^34 bytes",
    [{ ...treeOf([]), size: 2 ** 34 }],
  ],
  [
    "with a change of an object that is larger than the memory",
    [blobOf("x"), { ...copies(1, 1, 1), size: 2 ** 36 }],
  ],
])("a pack %s is refused, and one without is not", async (_, objects) => {
  backend = sends(objects);
  const { status, body } = await ask();
  expect(status).toBe(502);
  expect(body.toString()).toMatch(/git needs more memory|fatal: pack/);
  backend = sends();
  expect((await ask()).status).toBe(204);
});

it.each([{ maxSize: 2 ** 21, minFree: 0 }, { minFree: 2 ** 50 }])(
  "a pack that has no room is refused, with %j",
  async (bounds) => {
    backend = sends([], randomBytes(2 ** 22));
    const directory = scratch("store");
    const config = scene.configOf({ storage: { directory, ...bounds } });
    const other = await startMirror({ directory, config });
    expect(outcomeOf(await ask(gitAt(), other))).toBe("503 store-full");
  },
);

it.each(["text/plain", "application/x-git-receive-pack-advertisement"])(
  "a server that says %s is left before git is started",
  async (type) => {
    backend = async (_, response) => {
      response
        .setHeader("Content-Type", type)
        .end(`${"1".repeat(40)}\trefs/heads/main\n`);
      await once(response, "close");
    };
    const asked = scene.origin.count("/git/");
    const { status, body } = await ask();
    expect(status).toBe(502);
    expect(body.toString()).toContain("smart protocol");
    expect(scene.origin.count("/git/")).toBe(asked + 1);
  },
);

/** The processes that work below a folder. */
function processesBelow(folder: string): readonly string[] {
  return globSync("/proc/[0-9]*/cwd").filter((place) => {
    try {
      return readlinkSync(place).startsWith(`${folder}/`);
    } catch {
      return false;
    }
  });
}

describe.skipIf(process.platform !== "linux")("git", () => {
  it("ends with a daemon that is killed", async () => {
    const asked = Promise.withResolvers<void>();
    backend = async (request, response) => {
      if (request.method === "GET") return sends()(request, response);
      asked.resolve();
      await once(response, "close");
    };
    const other = await startMirror({ config: scene.configOf() });
    scene.origin.publish("acme/killed/aws", "1.0.0", gitAt());
    locate(other, "killed").catch(() => undefined);
    await asked.promise;
    expect(processesBelow(other.directory).length).toBeGreaterThan(1);
    await other.kill();
    await expect.poll(() => processesBelow(other.directory)).toEqual([]);
  });
});
