import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, globSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { GitRepository, gitBackend } from "../../fakes/git-http.ts";
import {
  blobOf,
  copies,
  sends,
  type PackObject,
} from "../../fakes/git-pack.ts";
import { unpack } from "../../fakes/module-archive.ts";
import type { GitBackend } from "../../fakes/registry.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  getArchive,
  locate,
  makeModuleScene,
  placeOf,
  removeBlobs,
} from "../../scenes/module-scene.ts";
import { outcomeOf, readMetric } from "../../scenes/provider-requests.ts";
import { filesIn } from "../archives/archives.ts";

const root = scratch("git");
const repositories = gitBackend(root);
let backend = repositories;
beforeEach(() => void (backend = repositories));

/** Every repository asks for a login. */
const asksForLogin = (status: number): GitBackend => {
  return async (_, response) => {
    response.writeHead(status, { "WWW-Authenticate": "Basic" }).end();
    await once(response, "close");
  };
};

const scene = await makeModuleScene((req, res) => backend(req, res));
const mirror = await startMirror({ config: scene.configOf() });
const asksAlways = scene.configOf({ freshness: { versions: "0s" } });

/** One with a file that says its name, tagged v1. */
async function makeRepository(name: string) {
  const repository = await GitRepository.create(join(root, name));
  const first = await repository.commit({ "main.tf": `# ${name}` }, "v1");
  return { repository, first };
}

const gitUrl = (name: string, rest = "?ref=v1") =>
  `git::${scene.origin.url}git/${name}/.git${rest}`;

const publish = (module: string, location: string) =>
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", location);

/** A repository whose tag has submodules. */
const { repository: withSubmodules } = await makeRepository("parent");
await withSubmodules.addSubmodule("sub");
await withSubmodules.commit({}, "v1");
const parent = gitUrl("parent");

/** Where clients are sent. */
const placeFor = async (module: string) =>
  (await locate(mirror, module)).headers["x-terraform-get"];

const ownPlace = (module: string) => placeOf(mirror, module, "archive.tar.gz");

const bodyOf = async (asked: RunningMirror, module: string) =>
  (await getArchive(asked, module)).body;

const alarmsOf = (asked: RunningMirror) =>
  readMetric(asked, 'provender_alarms_total{kind="module-replaced"}');

it("modules are packed from whatever git checks out: a tag, a branch, a commit, its first digits, the default branch", async () => {
  const { repository, first } = await makeRepository("refs");
  await repository.git("tag", "--annotate", "-m", "two", "annotated");
  await repository.git("branch", "feature/x");
  await repository.git("tag", `it's-"a"&b$1(c)+@`);
  await repository.commit({ "main.tf": "# last" });
  const refs = {
    tag: "?ref=v1",
    annotated: "?ref=annotated&depth=1",
    branch: "?ref=feature/x",
    commit: `?ref=${first.toUpperCase()}`,
    short: `?ref=${first.slice(0, 5)}`,
    described: `?ref=v1-0-g${first.slice(0, 8)}`,
    odd: "?ref=it's-%22a%22%26b$1(c)%2B@",
    "remote-in-full": "?ref=refs/remotes/origin/feature/x",
    "remote-branch": "?ref=origin/feature/x",
    "below-tags": "?ref=tags/v1",
    "tag-in-full": "?ref=refs/tags/annotated",
    "below-heads": "?ref=heads/feature/x",
    head: "",
    "remote-head": "?ref=origin/HEAD",
  };
  const bodies = new Map<string, Buffer>();
  for (const [module, query] of Object.entries(refs)) {
    publish(module, gitUrl("refs", query));
    expect(await placeFor(module)).toBe(ownPlace(module));
    const body = await bodyOf(mirror, module);
    const content = module.endsWith("head") ? "# last" : "# refs";
    expect(await unpack(body), module).toEqual({ "main.tf": content });
    bodies.set(module, body);
  }
  expect(bodies.get("tag")).toEqual(bodies.get("short"));
  publish("below", gitUrl("refs", "//modules/vpc?ref=v1"));
  expect(await placeFor("below")).toBe(`${ownPlace("below")}//modules/vpc`);
});

// What people see of it: test/commands/trust/module-contents.test.ts.
it("a module keeps its first content when the tag moves, with one alarm", async () => {
  const { repository } = await makeRepository("moved");
  publish("moved", gitUrl("moved"));
  const other = await startMirror({ config: asksAlways });
  const before = await bodyOf(other, "moved");
  await repository.commit({ "main.tf": "# next" }, "v1");
  for (let asked = 0; asked < 3; asked++)
    expect((await locate(other, "moved")).status).toBe(204);
  expect(await alarmsOf(other)).toBe(1);
  await removeBlobs(other);
  expect(await bodyOf(other, "moved")).toEqual(before);
});

it("a renamed repository is followed, and one with submodules is passed through", async () => {
  await makeRepository("renamed");
  const query = "/.git/info/refs?service=git-upload-pack";
  const end = `${scene.origin.url}git/renamed${query}`;
  scene.origin.redirect("/old/.git/info/refs", end);
  publish("renamed", `git::${scene.origin.url}old/.git`);
  expect(await placeFor("renamed")).toBe(ownPlace("renamed"));
  publish("submodules", parent);
  expect(await placeFor("submodules")).toBe(parent);
});

it("a ref or repository that does not exist is the origin's failure, which is not remembered", async () => {
  const { repository } = await makeRepository("late");
  for (const module of ["late", "nowhere"]) {
    publish(module, gitUrl(module, "?ref=v9"));
    expect((await locate(mirror, module)).status).toBe(502);
  }
  await repository.git("tag", "v9");
  expect(await placeFor("late")).toBe(ownPlace("late"));
});

it("a repository may not be larger than limits.gitRepository", async () => {
  const { repository } = await makeRepository("large");
  const noise = randomBytes(200_000).toString("base64");
  await repository.commit({ "a.tf": `# ${noise}` }, "v1");
  publish("large", gitUrl("large"));
  const limits = { gitRepository: 100 * 1024 };
  const other = await startMirror({ config: scene.configOf(), limits });
  const answer = await locate(other, "large");
  expect(answer.status).toBe(502);
  expect(answer.body.toString()).toContain("it is too large");
});

it("a repository that asks for a login is passed through to clients, who may have one, until it opens", async () => {
  const { first } = await makeRepository("private");
  const archive = `${scene.origin.url}git/private.zip?token=clients-own`;
  const refs = ["?ref=v1", `?ref=${first}`, ""];
  const places = [...refs.map((ref) => gitUrl("private", ref)), archive];
  for (const [index, place] of places.entries()) {
    backend = asksForLogin(index % 2 === 0 ? 401 : 403);
    publish(`login${index}`, place);
    expect(await placeFor(`login${index}`)).toBe(place);
  }
  backend = repositories;
  for (const opened of ["login0", "login1"])
    expect(await placeFor(opened)).toBe(ownPlace(opened));
  // Once the content is pinned, nobody gets another one past the mirror.
  backend = asksForLogin(401);
  expect(await placeFor("login1")).toBe(ownPlace("login1"));
  await removeBlobs(mirror);
  const answer = await locate(mirror, "login1");
  expect(outcomeOf(answer)).toBe("502 origin-credentials");
});

it("a login in a place is the clients' own, and not in the log", async () => {
  const place = gitUrl("private").replace("//", "//me:secret@");
  publish("given", place);
  expect(await placeFor("given")).toBe(place);
  expect(JSON.stringify(mirror.log)).not.toContain("secret");
});

it.each([
  ["a place of s3", "s3::https://s3.amazonaws.com/bucket/module.zip", ""],
  ["a repository with submodules", parent, "//modules/vpc"],
])(
  "%s is refused where an archive was, which is pinned and gone",
  async (_, place, folder) => {
    const bytes = await scene.publishArchive("kept");
    const first = `${scene.origin.url}files/kept.tar.gz${folder}`;
    publish("kept", first);
    const other = await startMirror({ config: asksAlways });
    expect(await bodyOf(other, "kept")).toEqual(bytes);
    publish("kept", place);
    expect(await bodyOf(other, "kept")).toEqual(bytes);
    await removeBlobs(other);
    for (const ask of [locate, getArchive])
      expect(outcomeOf(await ask(other, "kept"))).toBe("451 module-replaced");
    expect(await alarmsOf(other)).toBe(1);
    publish("kept", first);
    expect(await bodyOf(other, "kept")).toEqual(bytes);
  },
);

it("a repository with submodules changes nothing where that of the pinned commit still has it", async () => {
  await makeRepository("plain");
  publish("kept", gitUrl("plain"));
  const other = await startMirror({ config: asksAlways });
  const body = await bodyOf(other, "kept");
  publish("kept", parent);
  await removeBlobs(other);
  expect((await locate(other, "kept")).status).toBe(204);
  expect(await bodyOf(other, "kept")).toEqual(body);
});

describe("a hostile place", async () => {
  const guarded = await startMirror({ config: scene.configOf() });
  const mark = join(scratch("mark"), "mark");
  const place = `git::${scene.origin.url}git/repository`;
  let published = 0;

  /** The answer, after it is certain that nothing was kept of what is refused, and that nothing runs any longer. */
  async function ask(location = place, asked = guarded) {
    const module = `hostile${published++}`;
    publish(module, location);
    const blobs = join(asked.directory, "blobs");
    const before = filesIn(blobs);
    const answer = await locate(asked, module);
    if (answer.status !== 204) expect(filesIn(blobs)).toEqual(before);
    expect(readdirSync(join(asked.directory, "staging"))).toEqual([]);
    expect(processesBelow(asked.directory)).toEqual([]);
    return answer;
  }

  // What else is refused: test/address/module-source.test.ts.
  it("that is refused is refused before git hears of it", async () => {
    const asked = scene.origin.count("/git/");
    const location = `${place}?ref=--upload-pack=touch%20${mark}`;
    expect(outcomeOf(await ask(location))).toBe("451 module-source-refused");
    expect(scene.origin.count("/git/")).toBe(asked);
    expect(existsSync(mark)).toBe(false);
  });

  it.each([
    "git::https://127.0.0.1:1/x",
    "git::https://localhost/x",
    `git::${scene.origin.url}moved`,
  ])("that is not public is not asked: %s", async (location) => {
    scene.origin.redirect("/moved/info/refs", "https://10.0.0.1/x/info/refs");
    expect((await ask(location)).status).toBe(502);
  });

  it("runs no filters and hooks of its own", async () => {
    const { repository } = await makeRepository("attributes");
    const filter = `[filter "x"]\n  smudge = touch ${mark}\n`;
    await repository.commit(
      {
        ".gitattributes": "* filter=x diff=x merge=x\n",
        ".gitconfig": `${filter}[core]\n  fsmonitor = touch ${mark}\n`,
      },
      "v1",
    );
    expect((await ask(gitUrl("attributes"))).status).toBe(204);
    expect(existsSync(mark)).toBe(false);
  });

  const small = 2 ** 16;
  const large = 2 ** 23;

  it.each<[string, readonly PackObject[]]>([
    [
      "changes unfold to more than the memory",
      [
        blobOf(Buffer.alloc(small)),
        copies(small, small, 128),
        copies(large, large, 128),
        copies(large * 128, large, 200),
      ],
    ],
    [
      "tree says it has 2^34 bytes",
      [{ type: "tree", body: Buffer.alloc(0), size: 2 ** 34 }],
    ],
    [
      "change is of an object that is larger than the memory",
      [blobOf("x"), { ...copies(1, 1, 1), size: 2 ** 36 }],
    ],
  ])(
    "with a pack whose %s is refused, and one without is not",
    async (_, objects) => {
      backend = sends(objects);
      const { status, body } = await ask();
      expect(status).toBe(502);
      expect(body.toString()).toMatch(/git needs more memory|fatal: pack/);
      backend = sends();
      expect((await ask()).status).toBe(204);
    },
  );

  it.each([{ maxSize: 2 ** 21, minFree: 0 }, { minFree: 2 ** 50 }])(
    "with a pack that has no room is refused, with %j",
    async (bounds) => {
      backend = sends([], randomBytes(2 ** 22));
      const directory = scratch("store");
      const config = scene.configOf({ storage: { directory, ...bounds } });
      const other = await startMirror({ directory, config });
      expect(outcomeOf(await ask(place, other))).toBe("503 store-full");
    },
  );

  it.each(["text/plain", "application/x-git-receive-pack-advertisement"])(
    "whose server says %s is left before git is started",
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
});

/** The processes that work below a folder; none is known of other systems than Linux. */
function processesBelow(folder: string): readonly string[] {
  return globSync("/proc/[0-9]*/cwd").filter((place) => {
    try {
      return readlinkSync(place).startsWith(`${folder}/`);
    } catch {
      return false;
    }
  });
}

it.skipIf(process.platform !== "linux")(
  "git ends with a daemon that is killed",
  async () => {
    const asked = Promise.withResolvers<void>();
    backend = async (request, response) => {
      if (request.method === "GET") return sends()(request, response);
      asked.resolve();
      await once(response, "close");
    };
    const other = await startMirror({ config: scene.configOf() });
    publish("killed", gitUrl("repository", ""));
    locate(other, "killed").catch(() => undefined);
    await asked.promise;
    expect(processesBelow(other.directory).length).toBeGreaterThan(1);
    await other.kill();
    await expect.poll(() => processesBelow(other.directory)).toEqual([]);
  },
);
