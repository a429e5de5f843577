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

const host = "registry.terraform.io";

async function revive(lose: () => void = () => undefined): Promise<void> {
  await mirror.kill();
  lose();
  const config = scene.configOf({ freshness: { versions: "0s" } });
  mirror = await startMirror({ config, directory: mirror.directory });
}

const root = scratch("git");
const scene = await makeModuleScene(gitBackend(root));
const config = scene.configOf({ freshness: { versions: "0s" } });
let mirror: RunningMirror = await startMirror({ config });

const run = (...args: readonly string[]) =>
  runCommand(mirror, "trust", ...args);

/** Runs a command as it is printed. */
async function decide(command: string | null = ""): Promise<string> {
  expect(command).toMatch(/^provender trust /);
  const { status, stdout } = await run(...(command ?? "").split(" ").slice(2));
  expect(status).toBe(0);
  return stdout;
}

async function listed(): Promise<ListedTrust | undefined> {
  const { stdout } = await run("list", "--json");
  const { namespaces } = JSON.parse(stdout) as {
    readonly namespaces: readonly ListedTrust[];
  };
  return namespaces.find(({ namespace }) => namespace === `${host}/acme`);
}

const candidatesOf = async (module: string) =>
  ((await listed())?.candidates ?? []).filter(
    ({ type }) => type === `${module}/aws`,
  );

const bodyOf = async (module: string) =>
  (await getArchive(mirror, module)).body.toString("base64");

/** A module from a repository whose tag is moved. */
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
  return { repository, move, first: await bodyOf(module) };
}

/** A module from an archive, of which nothing is stored after each offer. */
async function withArchive(module: string) {
  const archives = new Map<string, Buffer>();
  const offer = async (text: string) => {
    const bytes = archives.get(text) ?? (await tarGz([["main.tf", text]]));
    archives.set(text, bytes);
    const url = scene.origin.serve(`/${module}.tar.gz`, bytes);
    scene.origin.publish(`acme/${module}/aws`, "1.0.0", url);
    const answer = await getArchive(mirror, module);
    await removeBlobs(mirror);
    return answer;
  };
  const { body } = await offer("# first");
  return { offer, first: body.toString("base64") };
}

describe("a module whose tag moved", () => {
  it("is a candidate with its command in the table, the document, the page and the alarm; its pinned commit is served", async () => {
    const { move, first } = await withTag("shown");
    const second = await move("# second");
    const command = `provender trust approve ${host}/acme/shown/aws@1.0.0 ${second.slice(0, 16)}`;
    expect(await candidatesOf("shown")).toEqual([
      {
        ...{ type: "shown/aws", version: "1.0.0", sha256sums: second },
        ...{ fingerprint: null, reason: "other-content", setting: null },
        keyCommand: null,
        ...{ command, since: expect.any(String) as unknown },
      },
    ]);
    const { stdout } = await run("list");
    expect(stdout).toContain(
      `shown/aws 1.0.0: other content than the pinned one, commit ${second}, since`,
    );
    expect(stdout).toContain(`\n  ${command}\n`);
    const page = (await mirror.get("/decisions")).body.toString();
    expect(page).toContain(command);
    const why = await mirror.get(`/why/${host}/acme/shown/aws/1.0.0`);
    expect(why.body.toString()).toContain(
      "1.0.0 is offered as a candidate since ",
    );
    expect(why.body.toString()).toContain(command);
    expect(
      mirror.log.filter(({ approve }) => approve === command),
    ).toMatchObject([{ alarm: "module-replaced", offered: second }]);
    expect(await bodyOf("shown")).toBe(first);
  });

  it("is served where it is approved, after restarts too, and the first is when that is revoked", async () => {
    const { move, first } = await withTag("taken");
    const second = await move("# second");
    const named = `${host}/acme/taken/aws 1.0.0`;
    const { stdout } = await run("approve", "acme/taken/aws@1.0.0");
    expect(stdout).toContain(`${named} is approved with commit ${second}: `);
    await expect.poll(() => bodyOf("taken")).not.toBe(first);
    const approved = await bodyOf("taken");
    expect(await candidatesOf("taken")).toEqual([]);
    expect(await listed()).toMatchObject({
      contents: [{ type: "taken/aws", version: "1.0.0", sha256sums: second }],
    });
    const again = await run("approve", "acme/taken/aws@1.0.0");
    expect([again.status, again.stderr]).toEqual([1, ""]);
    expect(again.stdout).toContain("is approved already with commit");
    await revive();
    expect(await bodyOf("taken")).toBe(approved);
    const spec = "acme/taken/aws@1.0.0";
    expect((await run("revoke", spec)).stderr).toContain('"policy.rules"');
    const forgotten = await run("forget", spec);
    expect(forgotten.stdout).toContain(
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

describe("an archive that was replaced", () => {
  it("is served once it is approved and offered again; without it there is a clear error", async () => {
    const { offer, first } = await withArchive("replaced");
    const refused = await offer("# second");
    expect([refused.status, codeOf(refused)]).toEqual([451, "module-replaced"]);
    const [second] = await candidatesOf("replaced");
    expect(refused.body.toString()).toContain(second?.command);
    expect((await offer("# third")).status).toBe(451);
    await decide(second?.command);
    await expect
      .poll(async () => (await getArchive(mirror, "replaced")).body.toString())
      .toContain(`expected SHA-256 ${second?.sha256sums}, got SHA-256 `);
    expect((await offer("# second")).status).toBe(200);
    expect((await offer("# first")).status).toBe(451);
    const duplicate = [second?.sha256sums ?? ""];
    const again = await run(
      "approve",
      ...["acme/replaced/aws@1.0.0", ...duplicate],
    );
    expect([again.status, again.stderr]).toEqual([1, ""]);
    await decide(second?.command?.replace(" approve ", " forget "));
    await expect.poll(() => bodyOf("replaced")).toBe(first);
  });
});
