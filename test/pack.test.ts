import { execFile, spawnSync } from "node:child_process";
import { chmod, mkdir, readFile, stat, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "./fakes/authority.ts";
import { startRegistry } from "./fakes/registry.ts";
import { originsOf } from "./origins.ts";
import { makeRelease } from "./packaging/release.ts";
import { runCommand } from "./running-command.ts";
import { scratch, startMirror } from "./running-mirror.ts";
import { findDeadLinks } from "./scenes/documents.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");

interface Manifest {
  readonly version: string;
  readonly bin: { readonly provender: string };
  readonly dependencies?: unknown;
}

let manifest: Manifest;
let tarball: string;
let names: readonly string[];
/** The folder of the installed package, and the program as npm links it. */
let installed: string;
let program: string;

beforeAll(async () => {
  const text = await readFile(join(root, "package.json"), "utf8");
  manifest = JSON.parse(text) as Manifest;
  tarball = (await makeRelease("npm", ".tgz")).file;
  const { stdout } = await run("tar", ["-tzf", tarball]);
  names = stdout.split("\n").filter((name) => /[^/]$/.test(name));
  [installed, program] = await install(tarball);
}, 120_000);

/** As npm would: the package unpacked and linked, with nothing beside it. */
async function install(file: string): Promise<[string, string]> {
  const modules = join(scratch("installed"), "node_modules");
  const folder = join(modules, "provender");
  await mkdir(folder, { recursive: true });
  await run("tar", ["-xzf", file, "-C", folder, "--strip-components=1"]);
  const link = join(modules, ".bin", "provender");
  await mkdir(dirname(link));
  await chmod(join(folder, manifest.bin.provender), 0o755);
  await symlink(join("..", "provender", manifest.bin.provender), link);
  return [folder, link];
}

describe("the package", () => {
  it("holds what runs, what explains it, and nothing else", () => {
    const allowed =
      /^package\/(?:dist\/(?:[A-Za-z0-9-]+\.js|package\.json)|systemd\/[a-z@.-]+|docs\/(?:(?:design\/)?(?:[a-z-]+|README)\.md|commands\.schema\.json)|config\.example\.yaml|package\.json|packaging\/(?:compose|kustomize|monitoring)\/[a-z/.-]+|(?:README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSES?)$/;
    expect(names.filter((name) => !allowed.test(name))).toEqual([]);
    expect(names).toContain("package/dist/main.js");
    expect(names).toContain("package/systemd/provender.service");
  });

  it("has all that its documents lead to", () => {
    expect(findDeadLinks(installed)).toEqual([]);
  });

  it("is small", async () => {
    expect((await stat(tarball)).size).toBeLessThan(4 * 1024 * 1024);
  });

  it("needs no other package", async () => {
    const main = await readFile(join(installed, "dist", "main.js"), "utf8");
    expect(main).toMatch(/^#!\/usr\/bin\/env node\n/);
    const text = await readFile(join(installed, "package.json"), "utf8");
    expect((JSON.parse(text) as Manifest).dependencies).toBeUndefined();
  });
});

describe("the installed program", () => {
  it("runs under its own name", async () => {
    const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
    const env = { PATH: path };
    const { stdout } = await run(program, ["--version"], { env });
    expect(stdout).toBe(`${manifest.version}\n`);
  });

  it("explains itself", async () => {
    const { status, stdout } = await runCommand(["--help"], { program });
    expect(stdout).toContain("Usage: provender");
    expect(status).toBe(0);
  });

  it("serves, with its threads for signatures and hashes", async () => {
    const authority = await createAuthority();
    const registry = await startRegistry({ authority });
    const release = await registry.publish({ type: "demo", version: "1.2.3" });
    const config = originsOf(authority, registry);
    const mirror = await startMirror({ config, program });
    const folder = "/providers/registry.terraform.io/acme/demo";
    const { filename, bytes, sha256, h1 } = release.archive("linux_amd64");

    const archive = await mirror.get(`${folder}/${filename}`);
    expect(archive.body.equals(bytes)).toBe(true);
    const hashes = [`zh:${sha256}`, h1];
    await expect
      .poll(async () => (await mirror.get(`${folder}/1.2.3.json`)).json())
      .toEqual({
        archives: { linux_amd64: { url: filename, hashes } },
        computed: { linux_amd64: h1 },
      });

    expect((await mirror.get("/")).status).toBe(200);
    expect(await mirror.stop()).toBe(0);
    await registry.stop();
  });
});

/** Nodes on PATH and those that PROVENDER_OLD_NODES names, which are older than the program needs. */
const old = [
  ...(process.env.PROVENDER_OLD_NODES ?? "").split(delimiter),
  ...(process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "node")),
].flatMap((file) => {
  if (file === "") return [];
  const { status, stdout } = spawnSync(file, ["--version"], {
    encoding: "utf8",
  });
  const version = status === 0 ? stdout.trim().slice(1) : "24";
  return Number.parseInt(version) < 24 ? [{ file, version }] : [];
});

describe.skipIf(old.length === 0)(
  old.length === 0
    ? "the npm package on an older Node (NOT TESTED: there is none)"
    : "the npm package on an older Node",
  () => {
    it.each(old)(
      "says on $version that it is too old, and ends with status 2",
      ({ file, version }) => {
        const args = [join(installed, "dist", "main.js"), "serve"];
        const found = spawnSync(file, args, { encoding: "utf8" });
        expect(found.stderr).toMatch(
          /^provender: needs Node 24, found [^\n]*\n$/,
        );
        expect(found.stderr).toContain(`found ${version}:`);
        expect(found.stdout).toBe("");
        expect(found.status).toBe(2);
      },
    );
  },
);
