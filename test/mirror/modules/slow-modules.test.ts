import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { arrivals } from "../../fakes/arrivals.ts";
import {
  blobOf,
  commitOf,
  gitId,
  packBackend,
  packOf,
  treeOf,
} from "../../fakes/git-pack.ts";
import type { GitBackend } from "../../fakes/module-registry.ts";
import { type RunningMirror, startMirror } from "../../running-mirror.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import { awaitLine } from "../../scenes/log-lines.ts";
import {
  makeModuleScene,
  type ModuleScene,
} from "../../scenes/module-scene.ts";
import { openConnection } from "../../scenes/raw-connection.ts";

const places = 8;
/** Size of each slow module: more than a minute's worth. */
const size = 6 * 1024 * 1024;
/** Faster than the least rate. */
const rate = 80_000;
const beats = 10;

type Kind = "archives" | "repositories";

const slowly = (response: ServerResponse, bytes: Buffer) => {
  let sent = 0;
  const timer = setInterval(() => {
    response.write(bytes.subarray(sent, sent + rate / beats));
    sent += rate / beats;
    if (sent >= bytes.length) response.end();
  }, 1_000 / beats);
  response.once("close", () => clearInterval(timer));
};

function repositoryOf(
  bytes: Buffer,
  send?: (response: ServerResponse, pack: Buffer) => void,
): GitBackend {
  const file = blobOf(bytes);
  const tree = treeOf([["100644 main.tf", gitId(file)]]);
  const commit = commitOf(tree);
  return packBackend(commit, packOf([commit, tree, file]), send);
}

/** Serves `/git/`, by the beginning of a name, and counts the slow ones begun. */
async function makeOrigin() {
  const begun = arrivals();
  const large = randomBytes(size);
  const send = (response: ServerResponse, bytes: Buffer) => {
    begun.arrive();
    slowly(response, bytes);
  };
  const backends: Readonly<Record<string, GitBackend>> = {
    "slow-archives": async (_, response) => {
      send(response.setHeader("Content-Length", size), large);
      await once(response, "close");
    },
    "slow-repositories": repositoryOf(large, send),
    "other-repositories": repositoryOf(Buffer.from("# other")),
  };
  const scene = await makeModuleScene(async (request, response) => {
    const [, name = ""] = /^\/git\/(\w+-[a-z]+)/.exec(request.url ?? "") ?? [];
    await backends[name]?.(request, response);
  });
  const bytes = await tarGz([["main.tf", "# other"]]);
  scene.origin.serve("/git/other-archives.tar.gz", bytes);
  return { scene, begun };
}

/** The path of a module's archive, which is of this kind at the origin. */
function publish(
  { origin }: ModuleScene,
  kind: Kind,
  module: string,
  place: string,
): string {
  const isArchive = kind === "archives";
  const url = `${origin.url}git/${place}`;
  const location = isArchive ? `${url}.tar.gz` : `git::${url}`;
  origin.publish(`${module}/aws`, "1.0.0", location);
  return `/v1/modules/registry.terraform.io/${module}/aws/1.0.0/archive.tar.gz`;
}

async function ask(mirror: RunningMirror, path: string): Promise<Socket> {
  const socket = await openConnection(mirror);
  socket.on("error", () => undefined).resume();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  return socket;
}

describe.each<Kind>(["archives", "repositories"])("eight slow %s", (kind) => {
  let origin: Awaited<ReturnType<typeof makeOrigin>>;
  beforeAll(async () => {
    origin = await makeOrigin();
  });

  it(
    "left by their clients, do not keep another from coming",
    { timeout: 60_000 },
    async () => {
      const { scene, begun } = origin;
      const config = scene.configOf();
      const mirror = await startMirror({ config });
      const sockets: Socket[] = [];
      for (let n = 0; n < places; n++) {
        const place = `slow-${kind}-${n}`;
        const module = `slow/${place}`;
        sockets.push(await ask(mirror, publish(scene, kind, module, place)));
      }
      await begun.reach(places);
      sockets.forEach((socket) => socket.destroy());
      const path = publish(scene, kind, "acme/other", `other-${kind}`);
      expect((await mirror.get(path)).status).toBe(200);
      await expectGivenUp(mirror);
    },
  );
});

/** The one whose place was taken says why, and not that its origin was slow. */
async function expectGivenUp(mirror: RunningMirror): Promise<void> {
  const line = await awaitLine(
    mirror,
    ({ msg }) => msg === "a module was not stored",
  );
  expect(line.module).toContain("/slow-");
  expect(line.error).toContain("too many downloads from this origin");
}
