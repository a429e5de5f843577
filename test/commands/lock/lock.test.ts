import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { replaceLockFile } from "../../../src/commands/lock/lock.ts";
import { makeRelease, type Release } from "../../fakes/release.ts";
import { runCommand } from "../../running-command.ts";
import { runHere } from "../../running-here.ts";
import {
  startAuthenticationScene,
  ci,
} from "../../scenes/authentication-scene.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import { makeDirectory, makeStorage } from "../storage.ts";
import { startWorld } from "../../scenes/world.ts";

const acme = "registry.terraform.io/acme";
const widget = `${acme}/widget`;
const platforms = ["linux_amd64", "darwin_arm64"] as const;
const name = ".terraform.lock.hcl";

const { registry, config, ca, mirror } = await startWorld();
const release = await registry.publish({
  version: "1.2.3",
  platforms: [...platforms, "windows_amd64"],
});

const from = ["--mirror", mirror.url, "--ca", mirror.caFile];
const flags = platforms.flatMap((platform) => ["--platform", platform]);

function lock(...args: readonly string[]) {
  return runHere(["lock", ...from, ...flags, ...args]);
}

function entry(hashes: readonly string[]): string {
  const list = hashes.map((hash) => `    "${hash}",\n`).join("");
  return bare.replace(/}\n$/, `  hashes = [\n${list}  ]\n}\n`);
}

/** Without hashes. */
const bare = `provider "${widget}" {\n  version = "1.2.3"\n}\n`;

/** As Terraform writes it. */
const heading = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

`;

/** All that may be locked for the platforms of the flags. */
function complete(): readonly string[] {
  return [
    release.archive("linux_amd64").h1,
    release.archive("darwin_arm64").h1,
    ...release.archives.map(({ sha256 }) => `zh:${sha256}`),
  ].toSorted();
}

describe("provender lock", () => {
  it("adds what is missing, writes the file as clients do, and keeps mode and links", async () => {
    const before = `# ours\n${entry([release.archive("linux_amd64").h1])}\nmodule "x" { # foreign\n}\n`;
    const directory = makeDirectory({ "elsewhere/lock": before });
    chmodSync(join(directory, "elsewhere/lock"), 0o640);
    symlinkSync("elsewhere/lock", join(directory, name));
    const run = await lock(directory);
    expect(run.stderr).toBe(
      `${join(directory, name)}: 4 hashes added to ${widget} 1.2.3\n`,
    );
    expect(run.status).toBe(0);
    expect(readFileSync(join(directory, name), "utf8")).toBe(
      `${heading}${entry(complete())}`,
    );
    expect(lstatSync(join(directory, name)).isSymbolicLink()).toBe(true);
    const written = join(directory, "elsewhere");
    expect(statSync(join(written, "lock")).mode & 0o777).toBe(0o640);
    expect(readdirSync(written)).toEqual(["lock"]);

    const again = await lock(directory);
    expect(again.stderr).toBe(`${join(directory, name)} is complete.\n`);
  });

  it("asks the local mirror by default, here, and works in several directories", async () => {
    const directory = makeDirectory({
      "a/.terraform.lock.hcl": bare,
      "b/.terraform.lock.hcl": bare,
    });
    await lock(join(directory, "b"));
    const { url: publicUrl, directory: store } = mirror;
    const { configFile } = makeStorage({ ...config, publicUrl }, store);
    const args = ["lock", "--config", configFile, ...flags];
    const run = await runCommand(args, { cwd: join(directory, "a") });
    expect(run.status).toBe(0);
    expect(readFileSync(join(directory, "a", name), "utf8")).toBe(
      `${heading}${entry(complete())}`,
    );
    const both = await runHere([
      ...args,
      "--check",
      join(directory, "a"),
      join(directory, "b"),
    ]);
    expect(both.stderr.match(/is complete/g)).toHaveLength(2);
  });

  it("says that no mirror answers", async () => {
    const directory = makeDirectory({ [name]: bare });
    const publicUrl = "https://127.0.0.1:9/";
    const { configFile } = makeStorage({ publicUrl }, mirror.directory);
    const run = await runHere(["lock", "--config", configFile, directory]);
    expect(run.stderr).toContain("https://127.0.0.1:9/");
    expect(run.status).toBe(1);
  });

  it("does not complete what is another release than the one that was locked", async () => {
    for (const hash of ["h1:other=", "zh:0000"]) {
      const before = entry([hash]);
      const directory = makeDirectory({ [name]: before });
      const run = await lock(directory);
      expect(run.stderr).toMatch(/widget 1\.2\.3 is not what .*:1 locks/);
      expect(run.status).toBe(1);
      expect(readFileSync(join(directory, name), "utf8")).toBe(before);
    }
  });

  it("knows a release by the h1 of a platform that was not asked for", async () => {
    const { h1 } = release.archive("windows_amd64");
    const directory = makeDirectory({ [name]: entry([h1]) });
    expect((await lock(directory)).status).toBe(0);
    expect(readFileSync(join(directory, name), "utf8")).toBe(
      `${heading}${entry([...complete(), h1].toSorted())}`,
    );
  });

  it("names what it cannot do and does the rest", async () => {
    const both = `${bare}${bare.replace("widget", "gone")}`;
    const directory = makeDirectory({ [name]: both });
    const run = await lock(directory);
    expect(run.stderr).toMatch(/acme\/gone.* does not exist/);
    expect(run.status).toBe(1);
    const text = readFileSync(join(directory, name), "utf8");
    for (const hash of complete()) expect(text).toContain(hash);
  });

  it("wants an init where there is no file", async () => {
    const run = await lock(makeDirectory({ "main.tf": "" }));
    expect(run.stderr).toContain('it is not there: run "init" of your client');
    expect(run.status).toBe(1);
  });

  it("leaves a file alone that clients could not read", async () => {
    const text = `${entry(["h1:a="])}other = 1\n`;
    const directory = makeDirectory({ [name]: text });
    for (const args of [[directory], ["--check", directory]]) {
      const run = await lock(...args);
      expect(run.stderr).toMatch(/: something in it besides/);
      expect(run.status).toBe(1);
    }
    expect(readFileSync(join(directory, name), "utf8")).toBe(text);
  });

  it.each([
    [["--mirror", "http://a.example"], /--mirror.* is not a URL/],
    [["--ca", "/nowhere"], /--ca: .*ENOENT/],
    [["--platform", "linux"], /"linux" is not a platform/],
  ])("refuses %j with status 2", async (args, problem) => {
    const run = await lock(...args);
    expect(run.stderr).toMatch(problem);
    expect(run.status).toBe(2);
  });
});

it("lock names an archive without an h1 that all clients would agree on, and calls no file complete", async () => {
  const published = { type: "folder", version: "1.0.0" };
  await registry.publish({ ...published, beside: ["docs/", "docs/a.md"] });
  const text = bare.replace("widget", "folder").replace("1.2.3", "1.0.0");
  const directory = makeDirectory({ [name]: text });
  for (const check of [[], ["--check"]]) {
    const args = [...from, "--platform", "linux_amd64", ...check, directory];
    const run = await runHere(["lock", ...args]);
    expect(run.stderr).toMatch(
      /1\.0\.0 for linux_amd64 has no h1.*an entry for a directory/,
    );
    expect(run.stderr).not.toContain("complete");
    expect(run.status).toBe(1);
  }
  const written = readFileSync(join(directory, name), "utf8");
  expect(written).toContain('"zh:');
  expect(written).not.toContain("h1:");
});

it("lock sends the token that clients have in the environment, and names the variable where it needs another", async () => {
  const { mirror, release } = await startAuthenticationScene();
  const host = new URL(mirror.url).host.replaceAll(".", "_");
  for (const token of [ci.token, undefined, "wrong-token"]) {
    const text = bare.replace("1.2.3", "1.0.0");
    const directory = makeDirectory({ [name]: text });
    const args = ["--mirror", mirror.url, "--ca", mirror.caFile];
    const run = await runCommand(
      ["lock", ...args, "--platform", "darwin_arm64", directory],
      { env: token === undefined ? {} : { [`TF_TOKEN_${host}`]: token } },
    );
    const written = readFileSync(join(directory, name), "utf8");
    if (token === ci.token) {
      expect(run.status).toBe(0);
      expect(written).toContain(release.archive("darwin_arm64").h1);
    } else {
      expect(run.stderr).toContain(`set TF_TOKEN_${host} to one that it knows`);
      expect(run.stderr).not.toContain("wrong-token");
      expect(run.status).toBe(1);
    }
  }
});

it("a lock file that was changed meanwhile is left as it is, and nothing beside it", async () => {
  const directory = makeDirectory({ [name]: "new" });
  const path = join(directory, name);
  await expect(replaceLockFile(path, "old", "ours")).rejects.toThrow(
    /changed meanwhile/,
  );
  expect(readdirSync(directory)).toEqual([name]);
  expect(readFileSync(path, "utf8")).toBe("new");
});

const h1sOf = ({ archives }: Release) =>
  archives.map(({ h1 }) => h1).toSorted();

/** What `lock` says, and the h1 that it writes into a file without hashes. */
async function lockNew({ type }: Release, from: readonly string[]) {
  const text = bare.replace("widget", type).replace("1.2.3", "1.0.0");
  const directory = makeDirectory({ [name]: text });
  const run = await runHere(["lock", ...from, ...flags, directory]);
  const written = readFileSync(join(directory, name), "utf8");
  return { ...run, h1s: written.match(/h1:[^"]+/g) ?? [] };
}

it("what a running mirror computed itself is taken without its archives", async () => {
  const named = { type: "computed", version: "1.0.0" };
  const release = await registry.publish({ ...named, platforms });
  const folder = `/providers/${acme}/computed`;
  for (const { filename } of release.archives)
    await mirror.get(`${folder}/${filename}`);
  expect((await lockNew(release, from)).h1s).toEqual(h1sOf(release));
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
    const there = ["--mirror", `${registry.url}tree/`, "--ca", ca];
    const run = await lockNew(release, there);
    expect(run.stderr).toMatch(says);
    const isGood = run.status === 0;
    expect(isGood).toBe(says.source === "hashes added");
    expect(run.h1s).toEqual(isGood ? h1sOf(release) : []);
  },
);
