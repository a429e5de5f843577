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

/** The entry of a release, with hashes where there are some. */
function entry(hashes: readonly string[], type = "widget", version = "1.2.3") {
  const list = hashes.map((hash) => `    "${hash}",\n`).join("");
  const all = list === "" ? "" : `  hashes = [\n${list}  ]\n`;
  return `provider "${acme}/${type}" {\n  version = "${version}"\n${all}}\n`;
}

/** All that may be locked for the platforms of the flags. */
const complete = [
  release.archive("linux_amd64").h1,
  release.archive("darwin_arm64").h1,
  ...release.archives.map(({ sha256 }) => `zh:${sha256}`),
];
/** As Terraform writes it. */
const written = (hashes: readonly string[] = complete) =>
  `# This file is maintained automatically by "terraform init".\n# Manual edits may be lost in future updates.\n\n${entry(hashes.toSorted())}`;

const read = (directory: string) => readFileSync(join(directory, name), "utf8");

describe("provender lock", () => {
  it("adds what is missing, writes the file as clients do, and keeps mode and links", async () => {
    const before = `# ours\n${entry([release.archive("linux_amd64").h1])}\nmodule "x" { # foreign\n}\n`;
    const directory = makeDirectory({ "elsewhere/lock": before });
    const elsewhere = join(directory, "elsewhere");
    chmodSync(join(elsewhere, "lock"), 0o640);
    symlinkSync("elsewhere/lock", join(directory, name));
    const run = await lock(directory);
    expect(run.stderr).toBe(
      `${join(directory, name)}: 4 hashes added to ${widget} 1.2.3\n`,
    );
    expect(run.status).toBe(0);
    expect(read(directory)).toBe(written());
    expect(lstatSync(join(directory, name)).isSymbolicLink()).toBe(true);
    expect(statSync(join(elsewhere, "lock")).mode & 0o777).toBe(0o640);
    expect(readdirSync(elsewhere)).toEqual(["lock"]);
  });

  it("asks the local mirror by default, here, and works in several directories", async () => {
    const directory = makeDirectory({
      [`a/${name}`]: entry([]),
      [`b/${name}`]: written(),
    });
    const [a, b] = [join(directory, "a"), join(directory, "b")];
    const { url: publicUrl, directory: store } = mirror;
    const { configFile } = makeStorage({ ...config, publicUrl }, store);
    const args = ["lock", "--config", configFile, ...flags];
    const run = await runCommand(args, { cwd: a });
    expect(run.status).toBe(0);
    expect(read(a)).toBe(written());
    const both = await runHere([...args, "--check", a, b]);
    expect(both.stderr.match(/is complete/g)).toHaveLength(2);
  });

  it("does not complete what is another release than the one that was locked", async () => {
    for (const hash of ["h1:other=", "zh:0000"]) {
      const directory = makeDirectory({ [name]: entry([hash]) });
      const run = await lock(directory);
      expect(run.stderr).toMatch(/widget 1\.2\.3 is not what .*:1 locks/);
      expect(run.status).toBe(1);
      expect(read(directory)).toBe(entry([hash]));
    }
  });

  it("knows a release by the h1 of a platform that was not asked for", async () => {
    const { h1 } = release.archive("windows_amd64");
    const directory = makeDirectory({ [name]: entry([h1]) });
    expect((await lock(directory)).status).toBe(0);
    expect(read(directory)).toBe(written([...complete, h1]));
  });

  it("names what it cannot do and does the rest", async () => {
    const both = entry([]) + entry([], "gone");
    const directory = makeDirectory({ [name]: both });
    const run = await lock(makeDirectory({}), directory);
    expect(run.stderr).toContain('it is not there: run "init" of your client');
    expect(run.stderr).toMatch(/acme\/gone.* does not exist/);
    expect(run.status).toBe(1);
    for (const hash of complete) expect(read(directory)).toContain(hash);
  });

  it("leaves a file alone that clients could not read", async () => {
    const text = `${entry(["h1:a="])}other = 1\n`;
    const directory = makeDirectory({ [name]: text });
    const run = await lock("--check", directory, directory);
    expect(run.stderr.match(/: something in it besides/g)).toHaveLength(2);
    expect(run.status).toBe(1);
    expect(read(directory)).toBe(text);
  });

  it.each([
    [["--mirror", "http://a.example"], /--mirror.* is not a URL/, 2],
    [["--ca", "/nowhere"], /--ca: .*ENOENT/, 2],
    [["--platform", "linux"], /"linux" is not a platform/, 2],
    [["--mirror", "https://127.0.0.1:9/"], /https:\/\/127\.0\.0\.1:9\//, 1],
  ])("given %j ends with a sentence", async (args, problem, status) => {
    const run = await lock(...args, makeDirectory({ [name]: entry([]) }));
    expect(run.stderr).toMatch(problem);
    expect(run.status).toBe(status);
  });

  it("names an archive without an h1 that all clients would agree on, and calls no file complete", async () => {
    const published = { type: "folder", version: "1.0.0" };
    await registry.publish({ ...published, beside: ["docs/", "docs/a.md"] });
    const text = entry([], "folder", "1.0.0");
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
    expect(read(directory)).toContain('"zh:');
    expect(read(directory)).not.toContain("h1:");
  });

  it("sends the token that clients have in the environment, and names the variable where it needs another", async () => {
    const { mirror, release } = await startAuthenticationScene();
    const variable = `TF_TOKEN_${new URL(mirror.url).host.replaceAll(".", "_")}`;
    const run = async (token: string) => {
      const text = entry([], "widget", "1.0.0");
      const directory = makeDirectory({ [name]: text });
      const args = ["--mirror", mirror.url, "--ca", mirror.caFile];
      const ran = await runCommand(
        ["lock", ...args, "--platform", "darwin_arm64", directory],
        { env: { [variable]: token } },
      );
      return { ...ran, text: read(directory) };
    };
    const good = await run(ci.token);
    expect(good.status).toBe(0);
    expect(good.text).toContain(release.archive("darwin_arm64").h1);
    for (const token of ["", "wrong-token"]) {
      const { stderr, status } = await run(token);
      expect(stderr).toContain(`set ${variable} to one that it knows`);
      expect(stderr).not.toContain("wrong-token");
      expect(status).toBe(1);
    }
  });

  it("leaves a file that was changed meanwhile as it is, and nothing beside it", async () => {
    const directory = makeDirectory({ [name]: "new" });
    const replacing = replaceLockFile(join(directory, name), "old", "ours");
    await expect(replacing).rejects.toThrow(/changed meanwhile/);
    expect(readdirSync(directory)).toEqual([name]);
    expect(read(directory)).toBe("new");
  });
});

describe("the h1 of an archive", () => {
  const h1sOf = ({ archives }: Release) =>
    archives.map(({ h1 }) => h1).toSorted();

  /** What `lock` says, and the h1 that it writes into a file without hashes. */
  async function lockNew({ type }: Release, from: readonly string[]) {
    const text = entry([], type, "1.0.0");
    const directory = makeDirectory({ [name]: text });
    const run = await runHere(["lock", ...from, ...flags, directory]);
    return { ...run, h1s: read(directory).match(/h1:[^"]+/g) ?? [] };
  }

  it("is taken without the archive where a running mirror computed it itself", async () => {
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

  type Listed = (one: Release["archives"][number], of: Release) => string[];

  it.each<[string, RegExp, Listed]>([
    [
      "a false h1: beside its zh:",
      /hashes added/,
      (one) => [`h1:${"A".repeat(43)}=`, zh(one)],
    ],
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
    "is computed by its zh: alone where a mirror of another make has %s",
    async (has, says, hashesOf) => {
      const type = has.replaceAll(/\W/g, "").toLowerCase();
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
});
