import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { digestOf } from "../../fakes/archive.ts";
import { startRegistry } from "../../fakes/registry.ts";
import {
  connectedSite,
  exportBundle,
  offlineSite,
  putTogether,
  takeApart,
  type BundleParts,
} from "../../mirror/bundles/bundles.ts";
import { originsOf } from "../../origins.ts";
import { runHere } from "../../running-here.ts";
import { blobOf, scratch, startMirror } from "../../running-mirror.ts";
import {
  listedIn,
  outcomeOf,
  requestsFor,
} from "../../scenes/provider-requests.ts";
import { registryRequestsFor } from "../../scenes/registry-requests.ts";
import { startOrigin } from "../../scenes/world.ts";

const linux = "linux_amd64";
const darwin = "darwin_arm64";
const widget = "registry.terraform.io/acme/widget";

const { authority, registry } = await startOrigin();
const release = await registry.publish({
  version: "1.0.0",
  platforms: [linux, darwin, "windows_amd64"],
  size: 30_000,
});
const second = await registry.publish({
  version: "1.1.0",
  platforms: [linux, darwin],
});
const here = connectedSite(authority, registry);
const both = ["--platform", linux, "--platform", darwin];
const bundle = await exportBundle(here, ...both, "acme/widget@1.0.0");

describe("export --to a folder", () => {
  /** A path where nothing is, and the folder of the provider below it. */
  function newTree() {
    const tree = join(scratch("tree"), "tree");
    return { tree, folder: join(tree, widget) };
  }

  const exportTo = (tree: string, ...args: readonly string[]) =>
    here.run("export", "--to", tree, ...args);

  const read = (folder: string, name: string): unknown =>
    JSON.parse(readFileSync(join(folder, name), "utf8"));

  it("writes archives, linked to the stored ones and not writable, and both documents, and nothing the second time", async () => {
    const { tree, folder } = newTree();
    expect((await exportTo(tree, "acme/widget@1.0.0")).status).toBe(0);
    const { filename, bytes, h1, sha256 } = release.archive(linux);
    const names = ["1.0.0.json", "index.json", filename];
    expect(readdirSync(folder)).toEqual(names);
    expect(readFileSync(join(folder, filename)).equals(bytes)).toBe(true);
    expect(read(folder, "index.json")).toEqual({ versions: { "1.0.0": {} } });
    const hashes = [`zh:${sha256}`, h1];
    const archives = { [linux]: { hashes, url: filename } };
    expect(readFileSync(join(folder, "1.0.0.json"), "utf8")).toBe(
      JSON.stringify({ archives }, null, 2),
    );
    const { mode, nlink } = statSync(join(folder, filename));
    expect(mode & 0o777).toBe(0o444);
    expect(nlink).toBeGreaterThan(1);
    const describe = () =>
      names.map((name) => {
        const { ino, mtimeMs } = statSync(join(folder, name));
        return [name, ino, mtimeMs];
      });
    const before = describe();
    expect((await exportTo(tree, "acme/widget@1.0.0")).status).toBe(0);
    expect(describe()).toEqual(before);
  });

  it("joins what could be had to what is there, also to what terraform wrote, and names the rest", async () => {
    const { tree, folder } = newTree();
    mkdirSync(folder, { recursive: true });
    const theirs = { hashes: [release.archive(darwin).h1], url: "theirs.zip" };
    for (const [name, document] of Object.entries({
      "1.0.0.json": { archives: { [darwin]: theirs } },
      "index.json": { versions: { "0.9.0": {}, "1.0.0": {} } },
    }))
      writeFileSync(join(folder, name), JSON.stringify(document));
    const specs = ["acme/widget@1.0.0", "acme/widget@7.7.7", "acme/none"];
    const { status, stderr } = await exportTo(tree, ...specs);
    expect(stderr).toContain("acme/widget 7.7.7");
    expect(stderr).toContain("acme/none");
    expect(status).toBe(1);
    await exportTo(tree, "--platform", darwin, "acme/widget@1.1.0");
    expect(read(folder, "index.json")).toEqual({
      versions: { "0.9.0": {}, "1.0.0": {}, "1.1.0": {} },
    });
    expect(read(folder, "1.0.0.json")).toMatchObject({
      archives: { [darwin]: theirs, [linux]: { url: /linux/ } },
    });
    expect(read(folder, "1.1.0.json")).toMatchObject({
      archives: { [darwin]: { url: second.archive(darwin).filename } },
    });
  });

  it.each<[string, string, number, RegExp]>([
    ["its folder", "..", 1, /acme\/widget .* \(it leads through a link to \//],
    ["a document", "index.json", 1, /index\.json .* \(.* a link/],
    ["an archive", release.archive(linux).filename, 0, /^1 packages exported/],
  ])(
    "never follows a link out of the folder in the place of %s",
    async (_, name, expected, says) => {
      const outside = scratch("outside");
      writeFileSync(join(outside, "index.json"), '{"versions":{"6.6.6":{}}}');
      const { tree, folder } = newTree();
      const link = join(folder, name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(name === ".." ? outside : join(outside, name), link);
      const { status, stderr } = await exportTo(tree, "acme/widget@1.0.0");
      expect(stderr).toMatch(says);
      expect(status).toBe(expected);
      expect(readdirSync(outside)).toEqual(["index.json"]);
    },
  );

  it("leaves alone what is no document of a mirror, and says so", async () => {
    const { tree, folder } = newTree();
    const path = join(folder, "index.json");
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, "<html>");
    const { status, stderr } = await exportTo(tree, "acme/widget@1.0.0");
    expect(stderr).toMatch(/index\.json could not be written \(.*move it away/);
    expect(status).toBe(1);
    expect(readFileSync(path, "utf8")).toBe("<html>");
  });
});

it.each([
  ["export --to TREE/tree", /give SPECs/, 2],
  [
    "export --to TREE/missing/a.tar acme/widget@1.0.0",
    /a\.tar could not be written \(ENOENT/,
    1,
  ],
  ["import TREE/a.tar", /a\.tar is refused as a bundle .*ENOENT/, 1],
  ["import TREE", /it is not a file/, 1],
  ["import --sha256 abc TREE/a.tar", /it is not a SHA-256/, 2],
] as const)("%s says what is wrong", async (line, reason, expected) => {
  const words = line.replace("TREE", scratch("tree")).split(" ");
  const { status, stderr } = await here.run(words[0] ?? "", ...words.slice(1));
  expect(stderr).toMatch(reason);
  expect(status).toBe(expected);
});

describe("import", () => {
  it("takes a bundle by the digest that export printed into an empty store, and writes nothing the second time", async () => {
    const file = join(scratch("bundle"), "bundle.tar");
    const to = ["--to", file, ...both, "acme/widget@1.0.0"];
    const made = await here.run("export", ...to);
    const [, digest = ""] =
      /^The SHA-256 of its manifest is ([0-9a-f]{64}): /m.exec(made.stderr) ??
      [];
    const site = offlineSite();
    const first = await site.run("import", "--sha256", digest, file);
    expect(first.stderr).toContain(`${widget} 1.0.0: 2 archives imported`);
    expect(first.stderr).not.toContain("Nothing vouches");
    expect(first.status).toBe(0);
    const { sha256, bytes } = release.archive(linux);
    expect(readFileSync(blobOf(site, sha256)).equals(bytes)).toBe(true);
    const before = site.snapshot();
    const given = ["--sha256", digest.toUpperCase()];
    const again = await site.run("import", ...given, file);
    expect(again.stderr).toContain(`${widget} 1.0.0: 0 archives imported, 2`);
    expect(again.status).toBe(0);
    expect(site.snapshot()).toEqual(before);
  });

  it("refuses by its digest, and by the known key, what was signed under the name of a namespace that the program knows", async () => {
    const name = "registry.opentofu.org/hashicorp";
    const parts = takeApart(readFileSync(bundle));
    const text = `${JSON.stringify(parts.manifest, null, 2)}\n`;
    const manifest = JSON.parse(
      text.replaceAll(dirname(widget), name),
    ) as BundleParts["manifest"];
    const renamed = join(scratch("renamed"), "bundle.tar");
    writeFileSync(renamed, putTogether({ ...parts, manifest }));
    const url = "https://127.0.0.1:1/";
    const site = offlineSite({ origins: { "registry.opentofu.org": { url } } });
    const digest = digestOf(Buffer.from(text));
    const asked = await site.run("import", "--sha256", digest, renamed);
    expect(asked.stderr).toContain(`expected ${digest}`);
    expect(asked.stderr).toContain("get a whole copy of what");
    expect(asked.status).toBe(1);
    expect(site.snapshot().size).toBe(0);
    const { status, stderr } = await site.run("import", renamed);
    expect(stderr).toContain(`Nothing vouches for the names in ${renamed}`);
    expect(stderr).toMatch(
      /widget 1\.0\.0: .* is not the publisher's .*: install it from nowhere, and find out/,
    );
    expect(status).toBe(1);
    expect(site.blobs()).toEqual([]);
    const config = ["--config", site.configFile];
    const listed = await runHere(["trust", "list", ...config, "--json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject({
      namespaces: [{ namespace: name, firstKey: null, providerKeys: [] }],
    });
  });

  it("takes what rules allow and names what they do not, with the reason", async () => {
    const gadget = await registry.publish({ type: "gadget", version: "1.0.0" });
    const two = await exportBundle(here, "acme/widget@1.0.0", "acme/gadget");
    const deny = { match: "*/acme/widget", action: "deny" };
    const site = offlineSite({ policy: { rules: [deny] } });
    const { status, stderr } = await site.run("import", two);
    expect(stderr).toMatch(/widget 1\.0\.0: .*denied by "policy.rules\[0\]"/);
    expect(stderr).toContain("acme/gadget 1.0.0: 1 archives imported");
    expect(status).toBe(1);
    expect(site.blobs()).toEqual([gadget.archive(linux).sha256]);
  });

  it("says what is missing of an incremental bundle, and completes what the first one brought", async () => {
    const specs = ["acme/widget@1.0.0", "acme/widget@1.1.0"];
    const since = ["--since", bundle, "--platform", linux];
    const small = await exportBundle(here, ...since, ...specs);
    const { members } = takeApart(readFileSync(small));
    const { sha256 } = second.archive(linux);
    expect(members.map(([name]) => name)).toEqual([`contents/${sha256}`]);
    const site = offlineSite();
    const alone = await site.run("import", small);
    expect(alone.stderr).toMatch(
      /widget_1\.0\.0_linux_amd64\.zip is neither in the bundle nor/,
    );
    expect(alone.stderr).toContain(`${widget} 1.1.0: 1 archives imported`);
    expect(alone.status).toBe(1);
    await site.run("import", bundle);
    expect((await site.run("import", small)).status).toBe(0);
  });

  it("has a daemon list a provider that its origin does not have, until nothing of it is stored", async () => {
    const empty = await startRegistry({ authority });
    const mirror = await startMirror({ config: originsOf(authority, empty) });
    const run = (...args: readonly string[]) =>
      runHere([...args, "--config", mirror.configFile]);
    const ask = requestsFor(mirror, "widget");
    expect(outcomeOf(await ask.index())).toBe("404 not-found");
    expect(await run("import", bundle)).toMatchObject({ status: 0 });
    await expect.poll(() => ask.listed()).toEqual(["1.0.0"]);
    const facade = registryRequestsFor(mirror, "widget");
    expect(listedIn(await facade.versions())).toEqual(["1.0.0"]);
    expect(await ask.delivery("1.0.0")).toBe("200");
    expect(await run("prune", "acme/widget")).toMatchObject({ status: 0 });
    expect(await ask.outcome("1.0.0")).toBe("404 not-found");
    expect(outcomeOf(await ask.index())).toBe("404 not-found");
  });
});
