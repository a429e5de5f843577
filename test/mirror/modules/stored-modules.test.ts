import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  blobOf,
  commitOf,
  gitId,
  packBackend,
  packOf,
  treeOf,
} from "../../fakes/git-pack.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import type { GitBackend } from "../../fakes/module-registry.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import {
  codeOf,
  countFiles,
  getArchive,
  locate,
  makeModuleScene,
} from "../../scenes/module-scene.ts";

const MiB = 2 ** 20;

/** How an origin sends an archive. */
type Kind = "announced" | "endless" | "git";

let published = 0;

const scene = await makeModuleScene((request, response) => {
  const [, kind, size] =
    /^\/git\/(\w+)-([\d.]+)-/.exec(request.url ?? "") ?? [];
  const send = kind === "git" ? sendPack : sendUnannounced;
  return send(Number(size))(request, response);
});

const made = new Map<number, Buffer>();

/** A repository is the same each time that it is asked for. */
function sendPack(size: number): GitBackend {
  const bytes = made.get(size) ?? randomBytes(size * MiB);
  made.set(size, bytes);
  const file = blobOf(bytes);
  const tree = treeOf([["100644 main.tf", gitId(file)]]);
  const commit = commitOf(tree);
  return packBackend(commit, packOf([commit, tree, file]));
}

function sendUnannounced(size: number): GitBackend {
  return async (_, response) => {
    response.end(randomBytes(size * MiB));
    await once(response, "close");
  };
}

/** A module of so many MiB; its name. */
async function publish(kind: Kind, size: number): Promise<string> {
  const module = `m${published++}`;
  const path = `git/${kind}-${size}-${module}`;
  if (kind === "announced") {
    const text = randomBytes(size * MiB).toString("base64");
    const bytes = await tarGz([["main.tf", text]]);
    scene.origin.serve(`/${path}.tar.gz`, bytes);
  }
  const place = `${scene.origin.url}${path}`;
  const location = kind === "git" ? `git::${place}` : `${place}.tar.gz`;
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", location);
  return module;
}

it.each<readonly [Kind, number, object]>([
  ["announced", 4, { maxSize: 2.5 * MiB, minFree: 0 }],
  ["endless", 4, { maxSize: 2.5 * MiB, minFree: 0 }],
  ["git", 4, { maxSize: 2.5 * MiB, minFree: 0 }],
  ["announced", 0.1, { minFree: 2 ** 50 }],
  ["endless", 0.1, { minFree: 2 ** 50 }],
  ["git", 0.1, { minFree: 2 ** 50 }],
])("an archive (%s) of %s MiB is refused under %j", async (...row) => {
  const [kind, size, bounds] = row;
  const directory = scratch("store");
  const storage = { directory, ...bounds };
  const config = scene.configOf({ storage });
  const mirror = await startMirror({ directory, config });
  const takesSmall = "maxSize" in bounds;
  const small = () => publish("announced", 0.5);
  const before = takesSmall
    ? (await getArchive(mirror, await small())).body.length
    : 0;
  const module = await publish(kind, size);
  for (const ask of [locate, getArchive]) {
    const answer = await ask(mirror, module);
    expect([answer.status, codeOf(answer)]).toEqual([503, "store-full"]);
  }
  expect(await countFiles(mirror, "staging")).toBe(0);
  const stored = globSync("blobs/v1/sha256/*/*", { cwd: directory }).map(
    (path) => statSync(join(directory, path)).size,
  );
  expect(stored.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(before);
  if (takesSmall)
    expect((await getArchive(mirror, await small())).status).toBe(200);
});
