import { join } from "node:path";
import { expect, it } from "vitest";
import { GitRepository, gitBackend } from "../../fakes/git-http.ts";
import { tarGz } from "../../fakes/module-archive.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  getArchive,
  locate,
  makeModuleScene,
  removeBlobs,
} from "../../scenes/module-scene.ts";
import { codeOf, runCommand } from "../../scenes/provider-requests.ts";
import type { ListedTrust } from "../../scenes/trust-scene.ts";

const acme = "registry.terraform.io/acme";

const root = scratch("git");
const scene = await makeModuleScene(gitBackend(root));
const config = scene.configOf({ freshness: { versions: "0s" } });
let mirror: RunningMirror = await startMirror({ config });

const run = (...args: readonly string[]) =>
  runCommand(mirror, "trust", ...args);

async function candidatesOf(module: string) {
  const { stdout } = await run("list", "--json");
  const { namespaces } = JSON.parse(stdout) as {
    readonly namespaces: readonly ListedTrust[];
  };
  return namespaces
    .filter(({ namespace }) => namespace === acme)
    .flatMap(({ candidates }) => candidates)
    .filter(({ type }) => type === `${module}/aws`);
}

const bodyOf = async (module: string) =>
  (await getArchive(mirror, module)).body.toString("base64");

it("a module whose tag moved is a candidate at every face, served where it is approved, after restarts too, and the first is when that is taken back", async () => {
  const repository = await GitRepository.create(join(root, "moved"));
  const place = `git::${scene.origin.url}git/moved/.git?ref=v1`;
  scene.origin.publish("acme/moved/aws", "1.0.0", place);
  const commit = async (text: string) => {
    const made = await repository.commit({ "main.tf": text }, "v1");
    expect((await locate(mirror, "moved")).status).toBe(204);
    return made;
  };
  await commit("# first");
  const first = await bodyOf("moved");
  const second = await commit("# second");
  const command = `provender trust approve ${acme}/moved/aws@1.0.0 ${second.slice(0, 16)}`;
  expect(await candidatesOf("moved")).toMatchObject([
    {
      ...{ version: "1.0.0", sha256sums: second, fingerprint: null },
      ...{ reason: "other-content", setting: null, keyCommand: null, command },
    },
  ]);
  const table = await run("list");
  expect(table.stdout).toContain(
    `moved/aws 1.0.0: other content than the pinned one, commit ${second}, since`,
  );
  expect(table.stdout).toContain(`\n  ${command}\n`);
  for (const path of ["/decisions", `/why/${acme}/moved/aws/1.0.0`])
    expect((await mirror.get(path)).body.toString()).toContain(command);
  const alarms = mirror.log.filter(({ approve }) => approve === command);
  expect(alarms).toMatchObject([{ alarm: "module-replaced", offered: second }]);
  expect(await bodyOf("moved")).toBe(first);

  const [spec, named] = ["acme/moved/aws@1.0.0", `${acme}/moved/aws 1.0.0`];
  expect((await run("approve", spec)).stdout).toContain(
    `${named} is approved with commit ${second}: `,
  );
  await expect.poll(() => bodyOf("moved")).not.toBe(first);
  const approved = await bodyOf("moved");
  expect(await candidatesOf("moved")).toEqual([]);
  const again = await run("approve", spec);
  expect([again.status, again.stderr]).toEqual([1, ""]);
  expect(again.stdout).toContain("is approved already with commit");
  await mirror.kill();
  mirror = await startMirror({ config, directory: mirror.directory });
  expect(await bodyOf("moved")).toBe(approved);
  expect((await run("revoke", spec)).stderr).toContain('"policy.rules"');
  expect((await run("forget", spec)).stdout).toContain(
    `${named} is not decided on with commit ${second}`,
  );
  await expect.poll(() => bodyOf("moved")).toBe(first);
  expect(await candidatesOf("moved")).toMatchObject([{ sha256sums: second }]);
  const audit = await runCommand(mirror, "audit", "--json");
  expect(audit.stdout).toMatch(
    /"event":"approved".*"module":"[^"]*acme\/moved\/aws"/,
  );
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
  expect((await run("forget", ...words.slice(1))).status).toBe(0);
  await expect.poll(() => bodyOf("replaced")).toBe(first);
});
