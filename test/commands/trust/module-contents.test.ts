import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
  removeBlobs,
} from "../../scenes/module-scene.ts";
import { runCommand } from "../../scenes/provider-requests.ts";
import type { ListedTrust } from "../../scenes/trust-scene.ts";

const acme = "registry.terraform.io/acme";

const root = scratch("git");
const scene = await makeModuleScene(gitBackend(root));
const config = scene.configOf({ freshness: { versions: "0s" } });
let mirror: RunningMirror = await startMirror({ config });

const run = (...args: readonly string[]) =>
  runCommand(mirror, "trust", ...args);

async function listed(): Promise<ListedTrust | undefined> {
  const { stdout } = await run("list", "--json");
  const { namespaces } = JSON.parse(stdout) as {
    readonly namespaces: readonly ListedTrust[];
  };
  return namespaces.find(({ namespace }) => namespace === acme);
}

const candidatesOf = async (module: string) =>
  ((await listed())?.candidates ?? []).filter(
    ({ type }) => type === `${module}/aws`,
  );

const bodyOf = async (module: string) =>
  (await getArchive(mirror, module)).body.toString("base64");

/** A module from a repository, and what moves its tag. */
async function withTag(module: string) {
  const repository = await GitRepository.create(join(root, module));
  const place = `git::${scene.origin.url}git/${module}/.git?ref=v1`;
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", place);
  const move = async (text: string) => {
    const commit = await repository.commit({ "main.tf": text }, "v1");
    expect((await locate(mirror, module)).status).toBe(204);
    return commit;
  };
  await move("# first");
  return { move, first: await bodyOf(module) };
}

describe("a module whose tag moved", () => {
  it("is a candidate with its command in the table, the document, the page and the alarm; its pinned commit is served", async () => {
    const { move, first } = await withTag("shown");
    const second = await move("# second");
    const command = `provender trust approve ${acme}/shown/aws@1.0.0 ${second.slice(0, 16)}`;
    expect(await candidatesOf("shown")).toEqual([
      {
        ...{ type: "shown/aws", version: "1.0.0", sha256sums: second },
        ...{ fingerprint: null, reason: "other-content", setting: null },
        ...{ keyCommand: null, command },
        since: expect.any(String) as unknown,
      },
    ]);
    const { stdout } = await run("list");
    expect(stdout).toContain(
      `shown/aws 1.0.0: other content than the pinned one, commit ${second}, since`,
    );
    expect(stdout).toContain(`\n  ${command}\n`);
    const pageOf = async (path: string) =>
      (await mirror.get(path)).body.toString();
    expect(await pageOf("/decisions")).toContain(command);
    const why = await pageOf(`/why/${acme}/shown/aws/1.0.0`);
    expect(why).toContain("1.0.0 is offered as a candidate since ");
    expect(why).toContain(command);
    expect(
      mirror.log.filter(({ approve }) => approve === command),
    ).toMatchObject([{ alarm: "module-replaced", offered: second }]);
    expect(await bodyOf("shown")).toBe(first);
  });

  it("is served where it is approved, after restarts too, and the first is when that is taken back", async () => {
    const { move, first } = await withTag("taken");
    const second = await move("# second");
    const [spec, named] = ["acme/taken/aws@1.0.0", `${acme}/taken/aws 1.0.0`];
    const { stdout } = await run("approve", spec);
    expect(stdout).toContain(`${named} is approved with commit ${second}: `);
    await expect.poll(() => bodyOf("taken")).not.toBe(first);
    const approved = await bodyOf("taken");
    expect(await candidatesOf("taken")).toEqual([]);
    expect(await listed()).toMatchObject({
      contents: [{ type: "taken/aws", version: "1.0.0", sha256sums: second }],
    });
    const again = await run("approve", spec);
    expect([again.status, again.stderr]).toEqual([1, ""]);
    expect(again.stdout).toContain("is approved already with commit");
    await mirror.kill();
    mirror = await startMirror({ config, directory: mirror.directory });
    expect(await bodyOf("taken")).toBe(approved);
    expect((await run("revoke", spec)).stderr).toContain('"policy.rules"');
    expect((await run("forget", spec)).stdout).toContain(
      `${named} is not decided on with commit ${second}`,
    );
    await expect.poll(() => bodyOf("taken")).toBe(first);
    expect(await candidatesOf("taken")).toMatchObject([{ sha256sums: second }]);
    const audit = await runCommand(mirror, "audit", "--json");
    expect(audit.stdout).toMatch(
      /"event":"approved".*"module":"[^"]*acme\/taken\/aws"/,
    );
  });
});

it("an archive that was replaced is served once it is approved and offered again; without it there is a clear error", async () => {
  const archives = new Map<string, Buffer>();
  /** Nothing of it is stored after each offer. */
  const offer = async (text: string) => {
    const bytes = archives.get(text) ?? (await tarGz([["main.tf", text]]));
    archives.set(text, bytes);
    const url = scene.origin.serve("/replaced.tar.gz", bytes);
    scene.origin.publish("acme/replaced/aws", "1.0.0", url);
    const answer = await getArchive(mirror, "replaced");
    await removeBlobs(mirror);
    return answer;
  };
  const first = (await offer("# first")).body.toString("base64");
  const refused = await offer("# second");
  expect([refused.status, codeOf(refused)]).toEqual([451, "module-replaced"]);
  const [{ command, sha256sums } = { command: null, sha256sums: "" }] =
    await candidatesOf("replaced");
  expect(refused.body.toString()).toContain(command);
  expect((await offer("# third")).status).toBe(451);
  const words = String(command).split(" ").slice(2);
  expect((await run(...words)).status).toBe(0);
  await expect
    .poll(async () => (await getArchive(mirror, "replaced")).body.toString())
    .toContain(`expected SHA-256 ${sha256sums}, got SHA-256 `);
  expect((await offer("# second")).status).toBe(200);
  expect((await offer("# first")).status).toBe(451);
  const again = await run("approve", "acme/replaced/aws@1.0.0", sha256sums);
  expect([again.status, again.stderr]).toEqual([1, ""]);
  expect((await run("forget", ...words.slice(1))).status).toBe(0);
  await expect.poll(() => bodyOf("replaced")).toBe(first);
});
