import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { connectedSite } from "../../mirror/bundles/bundles.ts";
import { scratch } from "../../running-mirror.ts";
import { startOrigin } from "../../scenes/world.ts";

// Each test runs several commands, each a process of its own.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const linux = "linux_amd64";
const darwin = "darwin_arm64";
const address = "registry.terraform.io/acme/widget";

const { authority, registry } = await startOrigin();
const platforms = [linux, darwin];
const first = await registry.publish({
  version: "1.0.0",
  platforms,
  size: 9000,
});
const second = await registry.publish({ version: "1.1.0", platforms });
const site = connectedSite(authority, registry);

function newTree(): string {
  return join(scratch("tree"), "tree");
}

function exportTo(tree: string, ...args: readonly string[]) {
  return site.run("export", "--to", tree, ...args);
}

function read(tree: string, name: string): unknown {
  return JSON.parse(readFileSync(join(tree, address, name), "utf8"));
}

describe("export --to", () => {
  it("writes archives and both documents, indented by two and sorted, and nothing else", async () => {
    const tree = newTree();
    const { status } = await exportTo(tree, "acme/widget@1.0.0");
    expect(status).toBe(0);
    const { filename, bytes, h1, sha256 } = first.archive(linux);
    expect(readdirSync(join(tree, address))).toEqual([
      "1.0.0.json",
      "index.json",
      filename,
    ]);
    expect(readFileSync(join(tree, address, filename)).equals(bytes)).toBe(
      true,
    );
    expect(readFileSync(join(tree, address, "index.json"), "utf8")).toBe(
      '{\n  "versions": {\n    "1.0.0": {}\n  }\n}',
    );
    const hashes = [`zh:${sha256}`, h1];
    const archives = { [linux]: { hashes, url: filename } };
    expect(readFileSync(join(tree, address, "1.0.0.json"), "utf8")).toBe(
      JSON.stringify({ archives }, null, 2),
    );
  });

  it("joins versions and platforms to what is there, also to what terraform wrote", async () => {
    const tree = newTree();
    const folder = join(tree, address);
    mkdirSync(folder, { recursive: true });
    const theirs = { hashes: [first.archive(darwin).h1], url: "theirs.zip" };
    writeFileSync(
      join(folder, "1.0.0.json"),
      JSON.stringify({ archives: { [darwin]: theirs } }),
    );
    writeFileSync(
      join(folder, "index.json"),
      JSON.stringify({ versions: { "0.9.0": {}, "1.0.0": {} } }),
    );
    await exportTo(tree, "acme/widget@1.0.0");
    await exportTo(tree, "--platform", darwin, "acme/widget@1.1.0");
    expect(read(tree, "index.json")).toEqual({
      versions: { "0.9.0": {}, "1.0.0": {}, "1.1.0": {} },
    });
    expect(read(tree, "1.0.0.json")).toMatchObject({
      archives: { [darwin]: theirs, [linux]: { url: /linux/ } },
    });
    expect(read(tree, "1.1.0.json")).toMatchObject({
      archives: { [darwin]: { url: second.archive(darwin).filename } },
    });
  });

  it("links the stored archives, readable by all and not writable, and changes nothing the second time", async () => {
    const tree = newTree();
    await exportTo(tree, "acme/widget@1.0.0");
    const describe = () =>
      readdirSync(join(tree, address)).map((name) => {
        const stat = statSync(join(tree, address, name));
        return [name, stat.ino, stat.mtimeMs];
      });
    const before = describe();
    const { filename } = first.archive(linux);
    const { mode, nlink } = statSync(join(tree, address, filename));
    expect(mode & 0o777).toBe(0o444);
    expect(nlink).toBeGreaterThan(1);
    expect((await exportTo(tree, "acme/widget@1.0.0")).status).toBe(0);
    expect(describe()).toEqual(before);
  });

  it("never follows a link out of the folder", async () => {
    const outside = scratch("outside");
    writeFileSync(join(outside, "index.json"), '{"versions": {"6.6.6": {}}}');
    const tree = newTree();
    mkdirSync(join(tree, "registry.terraform.io"), { recursive: true });
    symlinkSync(outside, join(tree, "registry.terraform.io", "acme"));
    const linked = await exportTo(tree, "acme/widget@1.0.0");
    expect(linked.stderr).toMatch(
      /acme\/widget could not be written \(it leads through a link to /,
    );
    expect(linked.stderr).toContain("0 packages exported, 1 failed.");
    expect(linked.status).toBe(1);

    const other = newTree();
    const folder = join(other, address);
    mkdirSync(folder, { recursive: true });
    symlinkSync(join(outside, "index.json"), join(folder, "index.json"));
    const target = join(outside, "target.zip");
    symlinkSync(target, join(folder, first.archive(linux).filename));
    const file = await exportTo(other, "acme/widget@1.0.0");
    expect(file.stderr).toMatch(/index\.json could not be written \(.* a link/);
    expect(existsSync(target)).toBe(false);
    expect(readdirSync(outside)).toEqual(["index.json"]);
  });

  it("leaves alone what is no document of a mirror, and says so", async () => {
    const tree = newTree();
    const path = join(tree, address, "index.json");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "<html>");
    const { status, stderr } = await exportTo(tree, "acme/widget@1.0.0");
    expect(stderr).toMatch(/index\.json could not be written \(.*move it away/);
    expect(status).toBe(1);
    expect(readFileSync(path, "utf8")).toBe("<html>");
  });

  it("writes what could be had and names the rest", async () => {
    const tree = newTree();
    const specs = ["acme/widget@1.0.0", "acme/widget@7.7.7", "acme/none"];
    const { status, stderr } = await exportTo(tree, ...specs);
    expect(stderr).toContain("acme/widget 7.7.7");
    expect(stderr).toContain("acme/none");
    expect(status).toBe(1);
    expect(read(tree, "index.json")).toEqual({ versions: { "1.0.0": {} } });
  });

  it("wants to know what and where to", async () => {
    const nowhere = await site.run("export", "acme/widget@1.0.0");
    expect(nowhere.stderr).toMatch(/--to <path>/);
    expect(nowhere.status).toBe(2);
    const nothing = await site.run("export", "--to", newTree());
    expect(nothing.status).toBe(2);
    const file = join(scratch("bundle"), "missing", "a.tar");
    const spec = "acme/widget@1.0.0";
    const unwritable = await site.run("export", "--to", file, spec);
    expect(unwritable.stderr).toMatch(/a\.tar could not be written \(ENOENT/);
    expect(unwritable.status).toBe(1);
  });
});
