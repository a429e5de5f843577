import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withCommonJsNames, writeBundle } from "../../packaging/bundle.ts";
import { runCommand } from "../running-command.ts";
import { scratch } from "../running-mirror.ts";

// Away from every node_modules, so that a package that is not bundled is missed.
const folder = join(scratch("bundle"), "app");
await writeBundle(folder, "1.2.3-test");
const program = join(folder, "main.js");

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
  it("is one flat folder", () => {
    const files = readdirSync(folder, { withFileTypes: true });
    expect(files.every((file) => file.isFile())).toBe(true);
  });

  it("reads lock files with HashiCorp's own parser", async () => {
    const cwd = scratch("configuration");
    const text = 'provider "a" {\n  = "no"\n}\n';
    writeFileSync(join(cwd, ".terraform.lock.hcl"), text);
    const args = ["lock", "--mirror", "https://mirror.example.com", "."];
    const run = await runCommand(args, { program, cwd });
    expect(run.stderr).toMatch(/\.terraform\.lock\.hcl:2/);
  });
});
