import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { withCommonJsNames, writeBundle } from "../../packaging/bundle.ts";
import { createAuthority } from "../fakes/authority.ts";
import { startLooseBucket } from "../fakes/loose-bucket.ts";
import { startRegistry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { runCommand } from "../running-command.ts";
import { scratch, startMirror } from "../running-mirror.ts";
import {
  makePart,
  writeBucketConfiguration,
} from "../scenes/bucket-configuration.ts";
import { makeLayout } from "../store/stores.ts";

let folder: string;
let program: string;

beforeAll(async () => {
  // Away from every node_modules, so that a package that is not bundled is missed.
  folder = join(scratch("bundle"), "app");
  await writeBundle(folder, "1.2.3-test");
  program = join(folder, "main.js");
});

describe("a module of the bundle", () => {
  const start = "#!/usr/bin/env node\n";
  it.each([
    ["", 'f();\nrequire("a");\n', "require"],
    [start, 'f();\nrequire("a");\n', "require"],
    [start, "f(__dirname);\n", "__dirname"],
    [start, "f(dirname);\n", ""],
  ])("has the names of CommonJS that it uses: %j %j", (first, rest, name) => {
    const text = withCommonJsNames(first + rest);
    const added = text.slice(first.length, -rest.length);
    expect(text).toBe(first + added + rest);
    const defined = [...added.matchAll(/const (\w+)=/g)].map(([, one]) => one);
    expect(defined.join()).toBe(name);
  });
});

describe("the bundle", () => {
  it("is one flat folder, and the same bytes for the same source", async () => {
    const again = join(scratch("bundle"), "app");
    await writeBundle(again, "1.2.3-test");
    const contentsOf = (from: string) =>
      readdirSync(from).map((name) => [name, readFileSync(join(from, name))]);
    expect(contentsOf(again)).toEqual(contentsOf(folder));
    const files = readdirSync(folder, { withFileTypes: true });
    expect(files.every((file) => file.isFile())).toBe(true);
  });

  it("says its version", async () => {
    const { stdout } = await runCommand(["--version"], { program });
    expect(stdout).toBe("1.2.3-test\n");
  });

  it("serves, with its threads for signatures and hashes", async () => {
    const authority = await createAuthority();
    const registry = await startRegistry({ authority });
    const release = await registry.publish({ type: "demo", version: "1.2.3" });
    const config = originsOf(authority, registry);
    const mirror = await startMirror({ config, program });
    const path = "/providers/registry.terraform.io/acme/demo";
    const { filename, bytes, sha256, h1 } = release.archive("linux_amd64");
    const archive = await mirror.get(`${path}/${filename}`);
    expect(archive.body.equals(bytes)).toBe(true);
    const hashes = [`zh:${sha256}`, h1];
    await expect
      .poll(async () => (await mirror.get(`${path}/1.2.3.json`)).json())
      .toMatchObject({ archives: { linux_amd64: { hashes } } });
    expect(await mirror.stop()).toBe(0);
    await registry.stop();
  });

  it("uses a bucket, with Amazon's own client", async () => {
    const loose = await startLooseBucket({ keepsConditions: true });
    const { directory } = await makeLayout();
    const file = writeBucketConfiguration(directory, makePart(loose));
    const run = await runCommand(["list", "--config", file], { program });
    expect(run.status).toBe(0);
    expect(loose.objects.size).toBeGreaterThan(0);
    await loose.stop();
  });

  it("reads configurations with HashiCorp's own parser", async () => {
    const cwd = scratch("configuration");
    writeFileSync(join(cwd, "main.tf"), 'terraform {\n  = "no"\n}\n');
    const args = ["lock", "--mirror", "https://mirror.example.com", "."];
    const run = await runCommand(args, { program, cwd });
    expect(run.stderr).toMatch(/main\.tf:2/);
  });
});
