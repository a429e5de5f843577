import { once } from "node:events";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
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
import type { GitBackend } from "../../fakes/module-registry.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import {
  countFiles,
  locate,
  makeModuleScene,
} from "../../scenes/module-scene.ts";
import { canSeeProcesses, processesBelow } from "../../scenes/processes.ts";

/** A server of a small repository, whose pack has these objects, too. */
function sends(...hostile: readonly PackObject[]): GitBackend {
  const file = blobOf("# module");
  const tree = treeOf([["100644 main.tf", gitId(file)]]);
  const commit = commitOf(tree);
  return packBackend(commit, packOf([commit, tree, file, ...hostile]));
}

const small = 2 ** 16;
const large = 2 ** 23;

/** Packs that would take all of a machine's memory. */
const hostilePacks: readonly (readonly [string, readonly PackObject[]])[] = [
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
    "with an object that says it has 2^40 bytes",
    [{ ...blobOf("x"), size: 2 ** 40 }],
  ],
  [
    "with a tree that says it has 2^34 bytes",
    [{ ...treeOf([]), size: 2 ** 34 }],
  ],
  [
    "with a change of an object that is larger than the memory",
    [blobOf("x"), { ...copies(1, 1, 1), size: 2 ** 36 }],
  ],
];

let backend: GitBackend;
let published = 0;

const scene = await makeModuleScene((req, res) => backend(req, res));
const mirror = await startMirror({ config: scene.configOf() });

afterEach(() => scene.origin.requests.splice(0));

/** The status and the sentence of a module that is packed from this repository. */
async function ask(place = "git/repository") {
  const module = `server${published++}`;
  const url = `git::${scene.origin.url}${place}`;
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", url);
  const answer = await locate(mirror, module);
  const text = answer.status === 204 ? "" : answer.body.toString();
  return { status: answer.status, text };
}

describe("packs", () => {
  it("of a small repository are fetched from such a server", async () => {
    backend = sends();
    expect((await ask()).status).toBe(204);
  });

  it.each(hostilePacks)("%s are refused", async (_, hostile) => {
    backend = sends(...hostile);
    const { status, text } = await ask();
    expect(status).toBe(502);
    expect(text).toMatch(/git needs more memory|fatal: pack/);
    expect(await countFiles(mirror, "staging")).toBe(0);
  });
});

describe("servers without git's smart protocol", () => {
  it.each([
    "text/plain",
    "application/octet-stream",
    "application/x-git-receive-pack-advertisement",
  ])("that say %s are refused before git is started", async (type) => {
    backend = async (_, response) => {
      response
        .setHeader("Content-Type", type)
        .end(`${"1".repeat(40)}\trefs/heads/main\n`);
      await once(response, "close");
    };
    const { status, text } = await ask();
    expect(status).toBe(502);
    expect(text).toContain("smart protocol");
    expect(scene.origin.count("/git/")).toBe(1);
  });
});

describe.skipIf(!canSeeProcesses)("git", () => {
  it("leaves nothing behind when it is done", async () => {
    const root = scratch("git");
    const repository = await GitRepository.create(join(root, "repository"));
    await repository.commit({ "main.tf": "# x" });
    backend = gitBackend(root);
    expect((await ask("git/repository/.git")).status).toBe(204);
    expect(processesBelow(mirror.directory)).toEqual([]);
  });

  it("ends with a daemon that is killed", async () => {
    const asked = Promise.withResolvers<void>();
    backend = async (request, response) => {
      if (request.method === "GET") return sends()(request, response);
      asked.resolve();
      await once(response, "close");
    };
    const other = await startMirror({ config: scene.configOf() });
    scene.origin.publish(
      "acme/killed/aws",
      "1.0.0",
      `git::${scene.origin.url}git/x`,
    );
    locate(other, "killed").catch(() => undefined);
    await asked.promise;
    expect(processesBelow(other.directory).length).toBeGreaterThan(1);
    await other.kill();
    await expect.poll(() => processesBelow(other.directory)).toEqual([]);
  });
});
