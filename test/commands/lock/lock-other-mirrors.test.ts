import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeRelease, type Release } from "../../fakes/release.ts";
import { runHere } from "../../running-here.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import { startWorld } from "../../scenes/world.ts";
import { makeDirectory } from "../storage.ts";

const acme = "registry.terraform.io/acme";
const platforms = ["linux_amd64", "darwin_arm64"] as const;

const { registry, ca, mirror } = await startWorld();

/** What `lock` says and writes for a lock file without hashes. */
async function lock({ type }: Release, url: string, caFile: string) {
  const name = ".terraform.lock.hcl";
  const text = `provider "${acme}/${type}" {\n  version = "1.0.0"\n}\n`;
  const directory = makeDirectory({ [name]: text });
  const flags = platforms.flatMap((platform) => ["--platform", platform]);
  const from = ["--mirror", url, "--ca", caFile];
  const run = await runHere(["lock", ...from, ...flags, directory]);
  const written = readFileSync(join(directory, name), "utf8");
  return { ...run, h1s: written.match(/h1:[^"]+/g) ?? [] };
}

const h1sOf = ({ archives }: Release) =>
  archives.map(({ h1 }) => h1).toSorted();

it("what a running mirror computed itself is taken without its archives", async () => {
  const name = { type: "computed", version: "1.0.0" };
  const release = await registry.publish({ ...name, platforms });
  const folder = `/providers/${acme}/computed`;
  for (const { filename } of release.archives)
    await mirror.get(`${folder}/${filename}`);
  const run = await lock(release, mirror.url, mirror.caFile);
  expect(run.h1s).toEqual(h1sOf(release));
  await awaitLineOf(mirror, await mirror.get(`${folder}/1.0.0.json`));
  const sent = mirror.log.filter(({ path }) =>
    String(path).startsWith(`${folder}/terraform-provider-`),
  );
  expect(sent).toHaveLength(release.archives.length);
});

const zh = ({ sha256 }: Release["archives"][number]) => `zh:${sha256}`;
const invented = `h1:${"A".repeat(43)}=`;
let types = 0;

it.each<
  [string, RegExp, (one: Release["archives"][number], of: Release) => string[]]
>([
  ["a false h1: beside its zh:", /hashes added/, (one) => [invented, zh(one)]],
  ["h1: alone", /the mirror tells no zh:/, ({ h1 }) => [h1]],
  [
    "another archive's zh:",
    /is refused \(expected SHA-256 [0-9a-f]{64}, the origin/,
    (one, { archives }) => [
      one.h1,
      ...archives.filter((other) => other !== one).map(zh),
    ],
  ],
])(
  "a mirror of another make that has of an archive %s is taken at its zh: alone",
  async (_, says, hashesOf) => {
    const type = `foreign${(types += 1)}`;
    const release = await makeRelease({ type, version: "1.0.0", platforms });
    const base = `/tree/${acme}/${type}/`;
    const archives = release.archives.map((one) => {
      registry.serve(`${base}${one.filename}`, one.bytes, "application/zip");
      const hashes = hashesOf(one, release);
      return [one.platform, { url: one.filename, hashes }] as const;
    });
    const document = { archives: Object.fromEntries(archives) };
    registry.serve(`${base}1.0.0.json`, JSON.stringify(document));
    const run = await lock(release, `${registry.url}tree/`, ca);
    expect(run.stderr).toMatch(says);
    const isGood = run.status === 0;
    expect(isGood).toBe(says.source === "hashes added");
    expect(run.h1s).toEqual(isGood ? h1sOf(release) : []);
  },
);
