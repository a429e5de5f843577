import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { alteredByte } from "../../fakes/faults.ts";
import { makeRelease, type Release } from "../../fakes/release.ts";
import { runHere } from "../../running-here.ts";
import { scratch } from "../../running-mirror.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import { startWorld } from "../../scenes/world.ts";
import { makeDirectory } from "../storage.ts";

const acme = "registry.terraform.io/acme";
const platforms = ["linux_amd64", "darwin_arm64"] as const;
const flags = platforms.flatMap((platform) => ["--platform", platform]);
const invented = `h1:${"A".repeat(43)}=`;

const { authority, registry, mirror } = await startWorld();
const caFile = join(scratch("ca"), "ca.pem");
writeFileSync(caFile, authority.caPem);

afterEach(() => {
  registry.heal();
  registry.requests.clear();
});

async function lock({ type }: Release, url: string, ca: string) {
  const text = `provider "${acme}/${type}" {\n  version = "1.0.0"\n}\n`;
  const directory = makeDirectory({ ".terraform.lock.hcl": text });
  const from = ["--mirror", url, "--ca", ca];
  const run = await runHere(["lock", ...from, ...flags, directory]);
  const file = join(directory, ".terraform.lock.hcl");
  return { ...run, h1s: readFileSync(file, "utf8").match(/h1:[^"]+/g) ?? [] };
}

const h1 = (release: Release, name: string) => release.archive(name).h1;
const h1sOf = ({ archives }: Release) =>
  archives.map(({ h1 }) => h1).toSorted();

it("what a running mirror computed itself is taken without its archives", async () => {
  const name = { type: "computed", version: "1.0.0" };
  const release = await registry.publish({ ...name, platforms });
  const folder = `/providers/${acme}/computed`;
  for (const { filename } of release.archives)
    await mirror.get(`${folder}/${filename}`);
  const document = await mirror.get(`${folder}/1.0.0.json`);
  expect(document.json()).toMatchObject({
    computed: {
      linux_amd64: h1(release, "linux_amd64"),
      darwin_arm64: h1(release, "darwin_arm64"),
    },
  });
  const run = await lock(release, mirror.url, mirror.caFile);
  expect(run.h1s).toEqual(h1sOf(release));
  await awaitLineOf(mirror, await mirror.get(`${folder}/1.0.0.json`));
  const sent = mirror.log.filter(({ path }) =>
    String(path).startsWith(`${folder}/terraform-provider-`),
  );
  expect(sent).toHaveLength(release.archives.length);
});

describe("lock from a network mirror of others", () => {
  /** The hashes that its VERSION.json has of an archive. */
  type Hashes = (release: Release, platform: string) => readonly string[];

  const zh = (release: Release, name: string) =>
    `zh:${release.archive(name).sha256}`;
  const otherOf = (name: string) =>
    platforms.find((one) => one !== name) ?? name;

  let types = 0;

  async function lockThere(hashesOf: Hashes) {
    const type = `foreign${(types += 1)}`;
    const release = await makeRelease({ type, version: "1.0.0", platforms });
    const base = `/tree/${acme}/${type}/`;
    const archives = release.archives.map(({ platform, filename, bytes }) => {
      registry.serve(`${base}${filename}`, bytes, "application/zip");
      const hashes = hashesOf(release, platform);
      return [platform, { url: filename, hashes }] as const;
    });
    const document = { archives: Object.fromEntries(archives) };
    registry.serve(`${base}index.json`, '{"versions":{"1.0.0":{}}}');
    registry.serve(`${base}1.0.0.json`, JSON.stringify(document));
    const run = await lock(release, `${registry.url}tree/`, caFile);
    return { ...run, release };
  }

  it.each<[string, Hashes]>([
    ["zh: and a false h1:", (one, name) => [invented, zh(one, name)]],
    ["zh: alone", (one, name) => [zh(one, name)]],
  ])("hashes the archives that it names by %s", async (_, hashes) => {
    const { release, stderr, h1s } = await lockThere(hashes);
    expect(stderr).toMatch(/hashes added/);
    expect(h1s).toEqual(h1sOf(release));
    const asked = registry.requests.list().map(({ path }) => path);
    expect(asked.filter((path) => path.endsWith("1.0.0.json"))).toHaveLength(1);
    expect(asked.filter((path) => path.endsWith(".zip"))).toHaveLength(2);
  });

  const isRefused = /is refused \(expected SHA-256 [0-9a-f]{64}, the origin/;

  it.each<[string, RegExp, Hashes]>([
    ["h1: alone", /the mirror tells no zh:/, () => [invented]],
    [
      "another archive's zh:",
      isRefused,
      (one, name) => [h1(one, name), zh(one, otherOf(name))],
    ],
    [
      "what they were before they were changed on their way",
      isRefused,
      (one, name) => {
        registry.script("other", (reply, request) =>
          request.path.endsWith(".zip")
            ? alteredByte(100)(reply, request)
            : reply,
        );
        return [h1(one, name), zh(one, name)];
      },
    ],
  ])(
    "writes no h1: of archives that it names by %s",
    async (_, why, hashes) => {
      const run = await lockThere(hashes);
      expect(run.stderr).toMatch(why);
      expect(run.status).toBe(1);
      expect(run.h1s).toEqual([]);
    },
  );
});
