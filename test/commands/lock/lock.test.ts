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
import { runCommand } from "../../running-command.ts";
import { runHere } from "../../running-here.ts";
import { AuthenticationScene, ci } from "../../scenes/authentication-scene.ts";
import { makeDirectory, makeStorage } from "../storage.ts";
import { startWorld } from "../../scenes/world.ts";

const acme = "registry.terraform.io/acme";
const name = ".terraform.lock.hcl";

const { registry, config, mirror } = await startWorld();
const release = await registry.publish({
  version: "1.2.3",
  platforms: ["linux_amd64", "darwin_arm64", "windows_amd64"],
});

const flags = ["--platform", "linux_amd64", "--platform", "darwin_arm64"];

function lock(...args: readonly string[]) {
  const from = ["--mirror", mirror.url, "--ca", mirror.caFile];
  return runHere(["lock", ...from, ...flags, ...args]);
}

/** An entry as it is without hashes, or with these. */
function entry(hashes?: readonly string[], of = "widget", version = "1.2.3") {
  const list = hashes?.map((hash) => `    "${hash}",\n`).join("");
  const body = hashes === undefined ? "" : `  hashes = [\n${list}  ]\n`;
  return `provider "${acme}/${of}" {\n  version = "${version}"\n${body}}\n`;
}

const read = (directory: string) => readFileSync(join(directory, name), "utf8");

/** As Terraform writes it. */
const heading = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

`;

/** All that may be locked for the platforms of the flags. */
const complete = [
  release.archive("linux_amd64").h1,
  release.archive("darwin_arm64").h1,
  ...release.archives.map(({ sha256 }) => `zh:${sha256}`),
].toSorted();

describe("provender lock", () => {
  it("adds what is missing, writes the file as clients do, and keeps mode and links", async () => {
    const before = `# ours\n${entry([release.archive("linux_amd64").h1])}\nmodule "x" { # foreign\n}\n`;
    const directory = makeDirectory({ "elsewhere/lock": before });
    const written = join(directory, "elsewhere");
    chmodSync(join(written, "lock"), 0o640);
    symlinkSync("elsewhere/lock", join(directory, name));
    const run = await lock(directory);
    expect(run.stderr).toBe(
      `${join(directory, name)}: 4 hashes added to ${acme}/widget 1.2.3\n`,
    );
    expect(run.status).toBe(0);
    expect(read(directory)).toBe(`${heading}${entry(complete)}`);
    expect(lstatSync(join(directory, name)).isSymbolicLink()).toBe(true);
    expect(statSync(join(written, "lock")).mode & 0o777).toBe(0o640);
    expect(readdirSync(written)).toEqual(["lock"]);

    const again = await lock(directory);
    expect(again.stderr).toBe(`${join(directory, name)} is complete.\n`);
  });

  it("asks the local mirror by default, here, and works in several directories", async () => {
    const directory = makeDirectory({
      [`a/${name}`]: entry(),
      [`b/${name}`]: entry(),
    });
    const [a, b] = [join(directory, "a"), join(directory, "b")];
    await lock(b);
    const { url: publicUrl, directory: store } = mirror;
    const { configFile } = makeStorage({ ...config, publicUrl }, store);
    const args = ["lock", "--config", configFile, ...flags];
    expect((await runCommand(args, { cwd: a })).status).toBe(0);
    expect(read(a)).toBe(`${heading}${entry(complete)}`);
    const both = await runHere([...args, "--check", a, b]);
    expect(both.stderr.match(/is complete/g)).toHaveLength(2);
  });

  it("says that no mirror answers", async () => {
    const publicUrl = "https://127.0.0.1:9/";
    const { configFile } = makeStorage({ publicUrl }, mirror.directory);
    const directory = makeDirectory({ [name]: entry() });
    const run = await runHere(["lock", "--config", configFile, directory]);
    expect(run.stderr).toContain(publicUrl);
    expect(run.status).toBe(1);
  });

  it("knows a release by the h1 of a platform that was not asked for", async () => {
    const { h1 } = release.archive("windows_amd64");
    const directory = makeDirectory({ [name]: entry([h1]) });
    expect((await lock(directory)).status).toBe(0);
    expect(read(directory)).toBe(
      `${heading}${entry([...complete, h1].toSorted())}`,
    );
  });

  it("names what it cannot do and does the rest", async () => {
    const text = entry() + entry(undefined, "gone");
    const directory = makeDirectory({ [name]: text });
    const run = await lock(directory);
    expect(run.stderr).toMatch(/acme\/gone.* does not exist/);
    expect(run.status).toBe(1);
    for (const hash of complete) expect(read(directory)).toContain(hash);
  });

  it("wants an init where there is no file", async () => {
    const run = await lock(makeDirectory({ "main.tf": "" }));
    expect(run.stderr).toContain('it is not there: run "init" of your client');
    expect(run.status).toBe(1);
  });

  it.each([
    ["<<<<", /:1: .*(?:block|token) definition required|:1: .*[Aa]rgument/],
    [entry([]), /:1: the entry of .*acme\/widget is not as clients write it/],
    [`${entry(["h1:a="])}other = 1\n`, /: something in it besides/],
    // What is locked is another release.
    [entry(["h1:other="]), /widget 1\.2\.3 is not what .*:1 locks/],
    [entry(["zh:0000"]), /widget 1\.2\.3 is not what .*:1 locks/],
  ])("leaves a file with %j alone", async (text, problem) => {
    const directory = makeDirectory({ [name]: text });
    for (const args of [[directory], ["--check", directory]]) {
      const run = await lock(...args);
      expect(run.stderr).toMatch(problem);
      expect(run.status).toBe(1);
    }
    expect(read(directory)).toBe(text);
  });

  it("leaves a file that was changed meanwhile, and nothing beside it", async () => {
    const directory = makeDirectory({ [name]: "new" });
    const replacing = replaceLockFile(join(directory, name), "old", "ours");
    await expect(replacing).rejects.toThrow(/changed meanwhile/);
    expect(readdirSync(directory)).toEqual([name]);
    expect(read(directory)).toBe("new");
  });

  it("names an archive for which there is no h1, and calls no file complete", async () => {
    const beside = ["docs/", "docs/a.md"];
    await registry.publish({ type: "folder", version: "1.2.3", beside });
    const directory = makeDirectory({ [name]: entry(undefined, "folder") });
    for (const more of [[], ["--check"]]) {
      const run = await lock(...more, directory);
      expect(run.stderr).toMatch(/1\.2\.3 for linux_amd64 has no h1/);
      expect(run.stderr).toMatch(/an entry for a directory/);
      expect(run.stderr).not.toContain("complete");
      expect(run.status).toBe(1);
    }
    expect(read(directory)).toContain('"zh:');
    expect(read(directory)).not.toContain("h1:");
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

describe("lock from a mirror that wants a token", async () => {
  const scene = await AuthenticationScene.start();
  const { url, caFile } = scene.mirror;
  /** As Terraform names it for the mirror's host. */
  const variable = `TF_TOKEN_${new URL(url).host.replaceAll(".", "_")}`;

  async function lockWith(env: Readonly<Record<string, string>>) {
    const text = entry(undefined, "widget", "1.0.0");
    const directory = makeDirectory({ [name]: text });
    const from = ["--mirror", url, "--ca", caFile, ...flags];
    const run = await runCommand(["lock", ...from, directory], { env });
    return { ...run, text: read(directory) };
  }

  it("sends the one that clients have in the environment", async () => {
    const run = await lockWith({ [variable]: ci.token });
    expect(run.status).toBe(0);
    expect(run.text).toContain(scene.release.archive("darwin_arm64").h1);
  });

  it("names the variable where there is none, or another one", async () => {
    for (const env of [{}, { [variable]: "wrong-token" }]) {
      const run = await lockWith(env);
      expect(run.stderr).toContain(`set ${variable} to one that it knows`);
      expect(run.stderr).not.toContain("wrong-token");
      expect(run.status).toBe(1);
    }
  });
});
