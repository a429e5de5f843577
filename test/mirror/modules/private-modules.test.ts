import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { GitRepository, gitBackend } from "../../fakes/git-http.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import {
  codeOf,
  getArchive,
  locate,
  makeModuleScene,
  placeOf,
  removeBlobs,
} from "../../scenes/module-scene.ts";

let refusal: number | undefined;

const root = scratch("private-git");
const backend = gitBackend(root);
const scene = await makeModuleScene(async (request, response) => {
  if (refusal === undefined) return backend(request, response);
  response.writeHead(refusal, { "WWW-Authenticate": "Basic" }).end();
});
const mirror = await startMirror({ config: scene.configOf() });
const repository = await GitRepository.create(join(root, "private"));
const commit = await repository.commit({ "main.tf": "# private" }, "v1");
beforeEach(() => (refusal = undefined));

const sourceOf = (query: string) =>
  `git::${scene.origin.url}git/private/.git${query}`;
const publish = (module: string, location: string) =>
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", location);

it.each([401, 403])(
  "what asks for a login with %i is passed through to clients, who may have one",
  async (status) => {
    const places = {
      tag: sourceOf("?ref=v1"),
      commit: sourceOf(`?ref=${commit}`),
      head: sourceOf(""),
      archive: `${scene.origin.url}git/private.zip?token=clients-own`,
    };
    for (const [name, place] of Object.entries(places)) {
      const module = `${name}-${status}`;
      publish(module, place);
      refusal = status;
      const located = await locate(mirror, module);
      expect(located.status, module).toBe(204);
      expect(located.headers["x-terraform-get"], module).toBe(place);
    }
  },
);

it("what was open is fetched, and is not passed by when it is closed later", async () => {
  publish("closed", sourceOf("?ref=v1"));
  expect((await locate(mirror, "closed")).status).toBe(204);
  expect((await getArchive(mirror, "closed")).status).toBe(200);
  refusal = 401;
  // It is stored: clients get the mirror's own.
  const located = await locate(mirror, "closed");
  expect(located.headers["x-terraform-get"]).toBe(
    placeOf(mirror, "closed", "archive.tar.gz"),
  );
  // The content is pinned, so that nobody gets another one past the mirror.
  await removeBlobs(mirror);
  const answer = await locate(mirror, "closed");
  expect(answer.status).toBe(502);
  expect(codeOf(answer)).toBe("origin-credentials");
});

it("what opens later is fetched", async () => {
  publish("opened", sourceOf(`?ref=${commit}`));
  refusal = 401;
  const before = await locate(mirror, "opened");
  expect(before.headers["x-terraform-get"]).toContain("git::");
  refusal = undefined;
  const after = await locate(mirror, "opened");
  expect(after.headers["x-terraform-get"]).toBe(
    placeOf(mirror, "opened", "archive.tar.gz"),
  );
});

it("git with a login in its place is the clients' own", async () => {
  const place = sourceOf("?ref=v1").replace("//", "//me:secret@");
  publish("login", place);
  const located = await locate(mirror, "login");
  expect(located.headers["x-terraform-get"]).toBe(place);
  expect(JSON.stringify(mirror.log)).not.toContain("secret");
});
