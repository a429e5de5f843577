import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { alteredByte } from "../../fakes/faults.ts";
import { makeRelease, type Release } from "../../fakes/release.ts";
import { runHere } from "../../running-here.ts";
import { scratch } from "../../running-mirror.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import { makeDirectory } from "../storage.ts";
import { startWorld } from "../../scenes/world.ts";

const hostname = "registry.terraform.io";
const platforms = ["linux_amd64", "darwin_arm64"];
const flags = platforms.flatMap((platform) => ["--platform", platform]);
const invented = `h1:${"A".repeat(43)}=`;

let types = 0;

const { authority, registry, mirror } = await startWorld();
const caFile = join(scratch("ca"), "ca.pem");
writeFileSync(caFile, authority.caPem);

afterEach(() => {
  registry.heal();
  registry.requests.clear();
});

async function lock({ type }: Release, ...args: readonly string[]) {
  const text = `provider "${hostname}/acme/${type}" {\n  version = "1.0.0"\n}\n`;
  const directory = makeDirectory({ ".terraform.lock.hcl": text });
  const run = await runHere(["lock", ...args, ...flags, directory]);
  const file = join(directory, ".terraform.lock.hcl");
  return { ...run, h1s: readFileSync(file, "utf8").match(/h1:[^"]+/g) ?? [] };
}

function h1sOf(release: Release): readonly string[] {
  return release.archives.map(({ h1 }) => h1).toSorted();
}

const otherOf = (platform: string) =>
  platforms.find((name) => name !== platform) ?? "";

it("what a running mirror computed itself is taken without its archives", async () => {
  const type = "computed";
  const release = await registry.publish({ type, version: "1.0.0", platforms });
  const folder = `/providers/${hostname}/acme/${release.type}`;
  for (const { filename } of release.archives)
    await mirror.get(`${folder}/${filename}`);
  const versionDocument = await mirror.get(`${folder}/1.0.0.json`);
  expect(versionDocument.json()).toMatchObject({
    computed: Object.fromEntries(
      release.archives.map(({ platform, h1 }) => [platform, h1]),
    ),
  });
  const from = ["--mirror", mirror.url, "--ca", mirror.caFile];
  expect((await lock(release, ...from)).h1s).toEqual(h1sOf(release));
  const last = await mirror.get(`${folder}/1.0.0.json`);
  await awaitLineOf(mirror, last);
  const sent = mirror.log.filter(({ path }) =>
    String(path).startsWith(`${folder}/terraform-provider-`),
  );
  expect(sent).toHaveLength(release.archives.length);
});

/** `archives` of a VERSION.json. */
type Archives = Record<string, { url: string; hashes?: string[] }>;
type Edit = (archives: Archives, release: Release) => void;

/** A release below `/tree/`, as `edit` changes its VERSION.json. */
function putIntoTree(release: Release, edit: Edit): void {
  const base = `/tree/${hostname}/acme/${release.type}/`;
  const archives: Archives = Object.fromEntries(
    release.archives.map(({ platform, filename, sha256, h1 }) => [
      platform,
      { url: filename, hashes: [h1, `zh:${sha256}`] },
    ]),
  );
  edit(archives, release);
  registry.serve(`${base}index.json`, '{"versions":{"1.0.0":{}}}');
  registry.serve(`${base}1.0.0.json`, JSON.stringify({ archives }));
  for (const { filename, bytes } of release.archives)
    registry.serve(`${base}${filename}`, bytes, "application/zip");
}

describe("lock from a network mirror of others", () => {
  const every = (make: (release: Release, name: string) => string[]): Edit => {
    return (archives: Archives, release) => {
      for (const [name, archive] of Object.entries(archives))
        archive.hashes = make(release, name);
    };
  };
  const zh = (release: Release, name: string) =>
    `zh:${release.archive(name).sha256}`;

  async function lockThere(edit: Edit) {
    const type = `foreign${(types += 1)}`;
    const release = await makeRelease({ type, version: "1.0.0", platforms });
    putIntoTree(release, edit);
    const from = ["--mirror", `${registry.url}tree/`, "--ca", caFile];
    return { release, run: await lock(release, ...from) };
  }

  it.each<[string, Edit]>([
    ["zh: and a false h1:", every((one, name) => [invented, zh(one, name)])],
    ["zh: alone", every((one, name) => [zh(one, name)])],
  ])("hashes the archives that it names by %s", async (_, edit) => {
    const { release, run } = await lockThere(edit);
    expect(run.stderr).toMatch(/hashes added/);
    expect(run.h1s).toEqual(h1sOf(release));
    const asked = registry.requests.list().map(({ path }) => path);
    expect(asked.filter((path) => path.endsWith("1.0.0.json"))).toHaveLength(1);
    expect(asked.filter((path) => path.endsWith(".zip"))).toHaveLength(2);
  });

  it.each<[string, RegExp, Edit]>([
    ["h1: alone", /the mirror tells no zh:/, every(() => [invented])],
    [
      "another archive's zh:",
      /is refused \(expected SHA-256 [0-9a-f]{64}, the origin sent/,
      every((one, name) => [one.archive(name).h1, zh(one, otherOf(name))]),
    ],
  ])("writes no h1: of archives that it names by %s", async (_, why, edit) => {
    const { run } = await lockThere(edit);
    expect(run.stderr).toMatch(why);
    expect(run.status).toBe(1);
    expect(run.h1s).toEqual([]);
  });

  it("writes no h1: of archives that were changed on their way", async () => {
    registry.script("other", (reply, request) =>
      request.path.endsWith(".zip") ? alteredByte(100)(reply, request) : reply,
    );
    const { run } = await lockThere(() => undefined);
    expect(run.stderr).toMatch(/is refused \(expected SHA-256/);
    expect(run.h1s).toEqual([]);
  });
});
