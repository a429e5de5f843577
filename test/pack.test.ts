import { execFile, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { makeRelease } from "./packaging/release.ts";
import { scratch, startMirror } from "./running-mirror.ts";
import { findDeadLinks } from "./scenes/documents.ts";
import { startOrigin } from "./scenes/world.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");

interface Manifest {
  readonly version: string;
  readonly bin: { readonly provender: string };
  readonly dependencies?: unknown;
}

const manifest = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
) as Manifest;
/** The folder of the installed package, and the program as npm links it. */
const modules = join(scratch("installed"), "node_modules");
const installed = join(modules, "provender");
const program = join(modules, ".bin", "provender");
let tarball: string;

beforeAll(async () => {
  tarball = (await makeRelease("npm", ".tgz")).file;
  for (const folder of [installed, dirname(program)])
    mkdirSync(folder, { recursive: true });
  await run("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  chmodSync(join(installed, manifest.bin.provender), 0o755);
  symlinkSync(join("..", "provender", manifest.bin.provender), program);
}, 120_000);

it("holds what runs, what explains it, all that its documents lead to, and nothing else", async () => {
  const { stdout } = await run("tar", ["-tzf", tarball]);
  const names = stdout.split("\n").filter((name) => /[^/]$/.test(name));
  const allowed =
    /^package\/(?:dist\/(?:[A-Za-z0-9-]+\.js|package\.json)|systemd\/[a-z@.-]+|docs\/(?:(?:design\/)?(?:[a-z-]+|README)\.md|commands\.schema\.json)|config\.example\.yaml|package\.json|packaging\/(?:compose|kustomize|monitoring)\/[a-z/.-]+|(?:README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSES?)$/;
  expect(names.filter((name) => !allowed.test(name))).toEqual([]);
  expect(names).toContain("package/systemd/provender.service");
  expect(statSync(tarball).size).toBeLessThan(4 * 1024 * 1024);
  expect(findDeadLinks(installed)).toEqual([]);
  const text = readFileSync(join(installed, "package.json"), "utf8");
  expect((JSON.parse(text) as Manifest).dependencies).toBeUndefined();
});

it("runs under its own name, and serves with its threads for signatures and hashes", async () => {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const { stdout } = await run(program, ["--version"], { env: { PATH: path } });
  expect(stdout).toBe(`${manifest.version}\n`);
  const { registry, config } = await startOrigin();
  const release = await registry.publish({ type: "demo", version: "1.2.3" });
  const mirror = await startMirror({ config, program });
  const folder = "/providers/registry.terraform.io/acme/demo";
  const { filename, bytes, h1 } = release.archive("linux_amd64");
  const archive = await mirror.get(`${folder}/${filename}`);
  expect(archive.body.equals(bytes)).toBe(true);
  await expect
    .poll(async () => (await mirror.get(`${folder}/1.2.3.json`)).json())
    .toMatchObject({ computed: { linux_amd64: h1 } });
  expect(await mirror.stop()).toBe(0);
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

it.each(old)(
  "says on Node $version that it is too old, and ends with status 2",
  ({ file, version }) => {
    const args = [join(installed, "dist", "main.js"), "serve"];
    const found = spawnSync(file, args, { encoding: "utf8" });
    expect(found.stderr).toMatch(/^provender: needs Node 24, found [^\n]*\n$/);
    expect(found.stderr).toContain(`found ${version}:`);
    expect(found.stdout).toBe("");
    expect(found.status).toBe(2);
  },
);
