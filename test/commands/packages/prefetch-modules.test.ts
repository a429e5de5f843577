import { describe, expect, it } from "vitest";
import { tarGz } from "../../fakes/module-archive.ts";
import {
  calling,
  makeModuleCalls,
  moduleHost,
  otherHost,
  providerHost,
  requiredTogether,
  requiring,
} from "../../scenes/module-calls.ts";
import { makeDirectory, type CommandStorage } from "../storage.ts";
import { prefetching } from "./prefetching.ts";

const scene = await makeModuleCalls();

const run = prefetching(scene.config);
const prefetch = (args: readonly string[], storage?: CommandStorage) =>
  run(["--platform", "linux_amd64", ...args], storage && { storage });

function all(outcome: string, version = "1.1.0"): readonly string[] {
  return [
    `${moduleHost}/acme/network/aws ${version} ${outcome}`,
    `${moduleHost}/acme/subnet/aws 2.3.0 ${outcome}`,
    `${otherHost}/acme/base/aws 0.4.0 ${outcome}`,
  ];
}

const network = `${moduleHost}/acme/network/aws`;

/** A call as an "init" records it. */
const at = (key: string, source: string, dir: string, version = "") => ({
  ...{ Key: key, Source: source, Dir: dir, Version: version },
});

describe("prefetch of modules", () => {
  it("follows the calls of a directory to the end, with all that they require together, and asks nothing twice", async () => {
    const directory = makeDirectory({
      "main.tf": calling("./own"),
      "plain.tf": `module "plain" {\n  source = "git::https://user:secret@git.example.com/acme/plain.git?ref=v1"\n}\n`,
      "own/main.tf": calling(network, "~> 1.0"),
    });
    const first = await prefetch(["--directory", directory]);
    expect(first).toMatchObject({
      status: 0,
      modules: all("fetched"),
      packages: requiredTogether,
      notCarried: [{ source: "git::https://git.example.com/acme/plain.git" }],
    });
    expect(first.stderr).toContain("git.example.com/acme/plain.git");
    expect(first.stderr).not.toContain("secret");
    const again = await prefetch(["--directory", directory], first.storage);
    expect(again).toMatchObject({ status: 0, modules: all("stored") });
    expect(scene.modules.count("/subnet.zip")).toBe(1);
  });

  it("takes a module by its SPEC, in each case of letters, without what only a locked root would need", async () => {
    const spec = `${moduleHost}/Acme/Network/aws@1.0.0`;
    const run = await prefetch(["--module", spec]);
    expect(run).toMatchObject({
      ...{ status: 0, modules: all("fetched", "1.0.0") },
      packages: requiredTogether,
    });
  });

  it.each([
    [
      "of a registry without an origin",
      "elsewhere.example.com/acme/network/aws",
      undefined,
    ],
    [
      "that its registry keeps where only clients can fetch it",
      `${moduleHost}/acme/subnet/aws`,
      "3.0.0",
    ],
    ["in a repository", "github.com/acme/network", undefined],
    ["that the client computes", "${var.source}", undefined],
  ])("names a module %s", async (_, source, version) => {
    const directory = makeDirectory({
      "main.tf": calling(source, version) + requiring("cog", ">= 3"),
    });
    const run = await prefetch(["--directory", directory]);
    expect(run).toMatchObject({
      status: 0,
      modules: [],
      notCarried: [{ source }],
    });
    expect(run.packages).toEqual(["registry.terraform.io/acme/cog 3.1.0"]);
    expect(run.stderr).toContain(`:1: "${source}" is left to the clients`);
  });

  it("takes what an init found a computed source to be, also below a local module that is computed", async () => {
    const directory = makeDirectory({
      "main.tf": `module "own" {\n  source = var.own\n}\nmodule "left" {\n  source = "./\${var.left}"\n}\n`,
      "own/main.tf": calling("${var.source}", "${var.version}"),
      ".terraform/modules/modules.json": JSON.stringify({
        Modules: [
          at("", "", "."),
          at("own", "./own", "own"),
          at("own.called", network, ".terraform/modules/own.called", "1.0.0"),
        ],
      }),
    });
    const run = await prefetch(["--directory", directory]);
    const because = expect.stringContaining("modules.json") as string;
    expect(run).toMatchObject({
      ...{ modules: all("fetched", "1.0.0"), packages: requiredTogether },
      notCarried: [{ source: "./${var.left}", because }],
    });
  });

  it.each([
    ["a version that there is not", calling(network, ">= 9"), "No version of"],
    [
      "a module that there is not",
      calling(`${moduleHost}/acme/nothing/aws`),
      "does not exist",
    ],
    [
      "a folder that it does not have",
      calling(`${network}//other`),
      'no folder "network-1/other"',
    ],
    [
      "a local module outside of its package",
      calling(`${moduleHost}/acme/escaping/aws`),
      'no folder "../../etc"',
    ],
  ])("names %s", async (_, text, said) => {
    await publish("escaping", [["main.tf", calling("../../etc")]]);
    const directory = makeDirectory({ "main.tf": text });
    const run = await prefetch(["--directory", directory]);
    expect(run.stderr).toContain(said);
    expect(run.status).toBe(1);
  });

  it("ends with a circle of modules, of which links are a part", async () => {
    const circle = calling(`${moduleHost}/acme/circle/aws`);
    await publish("circle", [
      ["main.tf", circle + calling("./in")],
      ["in", { type: "symlink", linkname: "inside" }],
      ["inside/main.tf", calling("../in") + requiring("cog", ">= 3")],
    ]);
    const directory = makeDirectory({ "main.tf": circle });
    const run = await prefetch(["--directory", directory]);
    expect(run.stderr).toContain("1 modules fetched");
    expect(run.packages).toEqual(["registry.terraform.io/acme/cog 3.1.0"]);
    expect(run.status).toBe(0);
  });
});

async function publish(name: string, members: Parameters<typeof tarGz>[0]) {
  const bytes = await tarGz(members);
  const url = scene.modules.serve(`/${name}.tar.gz`, bytes);
  scene.modules.publish(`acme/${name}/aws`, "1.0.0", url);
}

describe("prefetch --check", () => {
  const name = ".terraform.lock.hcl";
  const lockOf = (more = "") =>
    `provider "${providerHost}/acme/widget" {\n  version = "1.5.0"\n${more}}\n`;
  const files = { "main.tf": calling(network, "~> 1.0"), [name]: lockOf() };

  it("names every locked package and module that is not held, without any request", async () => {
    scene.providers.requests.clear();
    scene.modules.requests.clear();
    const directory = makeDirectory(files);
    const run = await prefetch(["--check", "--directory", directory]);
    expect(run.status).toBe(1);
    expect(run.outcomes).toEqual(["widget 1.5.0 linux_amd64 missing"]);
    expect(run.codes).toEqual(["not-stored", "not-stored"]);
    expect(run.stderr).toContain("/widget 1.5.0 linux_amd64 is not held here.");
    expect(run.stderr).toContain(`${network} is not held here.\n`);
    expect(run.stderr).toContain("0 packages and 0 modules held, 2 missing.\n");
    expect(scene.providers.requests.count()).toBe(0);
    expect(scene.modules.requests.count()).toBe(0);
  });

  it("names an archive whose hash is not the locked one", async () => {
    const directory = makeDirectory(files);
    const { status, storage } = await prefetch(["--directory", directory]);
    expect(status).toBe(0);
    const hashes = `  hashes = ["zh:${"0".repeat(64)}"]\n`;
    const changed = makeDirectory({ [name]: lockOf(hashes) });
    const found = await prefetch(["--check", "--directory", changed], storage);
    expect([found.status, ...found.codes]).toEqual([1, "lock-mismatch"]);
  });
});
