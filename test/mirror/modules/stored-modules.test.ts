import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  codeOf,
  countFiles,
  getArchive,
  locate,
  makeModuleScene,
} from "../../scenes/module-scene.ts";

const MiB = 2 ** 20;
const maxSize = 2.5 * MiB;

/** The size of an origin's archive in MiB, and how it is sent. */
type Place = readonly [kind: "announced" | "endless" | "git", size: number];

let published = 0;

const scene = await makeModuleScene((request, response) => {
  const [, kind = "", size = ""] =
    /^\/git\/(\w+)-([\d.]+)-/.exec(request.url ?? "") ?? [];
  const send = kind === "git" ? sendPack : sendUnannounced;
  return send(Number(size))(request, response);
});

const textOf = (size: number) => randomBytes(size * MiB).toString("base64");

function sendPack(size: number): GitBackend {
  const file = blobOf(cached(`git ${size}`, () => randomBytes(size * MiB)));
  const tree = treeOf([["100644 main.tf", gitId(file)]]);
  const commit = commitOf(tree);
  return packBackend(commit, packOf([commit, tree, file]));
}

function sendUnannounced(size: number): GitBackend {
  return async (_, response) => {
    response.write(randomBytes(size * MiB));
    response.end();
    await once(response, "close");
  };
}

const made = new Map<string, Buffer>();

/** A repository is the same each time that it is asked for. */
function cached(name: string, make: () => Buffer): Buffer {
  const bytes = made.get(name) ?? make();
  made.set(name, bytes);
  return bytes;
}

/** The module's name. */
async function publish([kind, size]: Place): Promise<string> {
  const module = `m${published++}`;
  const place = `${scene.origin.url}git/${kind}-${size}-${module}`;
  if (kind === "announced")
    scene.origin.serve(
      `/git/${kind}-${size}-${module}.tar.gz`,
      await tarGz([["main.tf", textOf(size)]]),
    );
  const location = kind === "git" ? `git::${place}` : `${place}.tar.gz`;
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", location);
  return module;
}

/** The bytes of each stored archive, by its digest. */
function readStored({ directory }: RunningMirror): ReadonlyMap<string, number> {
  const blobs = join(directory, "blobs");
  const found = readdirSync(blobs, { recursive: true, withFileTypes: true });
  return new Map(
    found
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [
        name,
        statSync(join(parentPath, name)).size,
      ]),
  );
}

function sumOf(mirror: RunningMirror): number {
  return [...readStored(mirror).values()].reduce((sum, size) => sum + size, 0);
}

function startWithin(bounds: Readonly<Record<string, number>>) {
  const directory = scratch("store");
  const storage = { directory, ...bounds };
  return startMirror({ directory, config: scene.configOf({ storage }) });
}

async function expectFull(
  mirror: RunningMirror,
  module: string,
): Promise<void> {
  for (const ask of [locate, getArchive]) {
    const answer = await ask(mirror, module);
    expect(answer.status).toBe(503);
    expect(codeOf(answer)).toBe("store-full");
  }
  expect(await countFiles(mirror, "staging")).toBe(0);
}

describe("modules under storage.maxSize", () => {
  const start = () => startWithin({ maxSize, minFree: 0 });

  it.each<Place>([
    ["announced", 4],
    ["endless", 4],
    ["git", 4],
  ])("(%s) are refused above it", async (...place) => {
    const mirror = await start();
    const small = await getArchive(mirror, await publish(["announced", 0.5]));
    await expectFull(mirror, await publish(place));
    expect(sumOf(mirror)).toBeLessThanOrEqual(small.body.length);
    const next = await getArchive(mirror, await publish(["announced", 0.5]));
    expect(next.status).toBe(200);
  });
});

describe("modules under storage.minFree", () => {
  it.each<Place>([
    ["announced", 0.1],
    ["endless", 0.1],
    ["git", 0.1],
  ])("(%s) are not stored on a full disk", async (...place) => {
    const mirror = await startWithin({ minFree: 2 ** 50 });
    await expectFull(mirror, await publish(place));
    expect(sumOf(mirror)).toBe(0);
  });
});
