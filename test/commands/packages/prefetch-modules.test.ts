import { describe, expect, it } from "vitest";
import { runHere } from "../../running-here.ts";
import {
  calling,
  makeModuleCalls,
  moduleHost,
  requiring,
} from "../../scenes/module-calls.ts";
import { expectDocument } from "../documents.ts";
import { makeDirectory, makeStorage } from "../storage.ts";

const scene = await makeModuleCalls();

interface Printed {
  readonly packages: readonly { provider: string; version: string }[];
  readonly modules: readonly {
    readonly module: string;
    readonly version: string;
    readonly outcome: string;
    readonly asked: readonly string[];
  }[];
  readonly notCarried: readonly { source: string; because: string }[];
}

async function prefetch(
  args: readonly string[],
  storage = makeStorage(scene.config),
) {
  const command = ["prefetch", "--json", "--config", storage.configFile];
  const flags = ["--platform", "linux_amd64"];
  const run = await runHere([...command, ...flags, ...args]);
  const { packages, modules, notCarried } = expectDocument(
    "prefetch",
    run.stdout,
  ) as Printed;
  return {
    ...run,
    storage,
    packages: packages.map((one) => `${one.provider} ${one.version}`),
    modules: modules.map(
      (one) => `${one.module} ${one.version} ${one.outcome}`,
    ),
    notCarried,
  };
}

const network = `${moduleHost}/acme/network/aws`;

describe("prefetch of modules", () => {
  it("takes what a directory and its local modules call, and asks nothing twice", async () => {
    const directory = makeDirectory({
      "main.tf": calling("./own"),
      "plain.tf": `module "plain" {\n  source = "git::https://user:secret@git.example.com/acme/plain.git?ref=v1"\n}\n`,
      "own/main.tf": calling(network, "~> 1.0") + requiring("cog", ">= 3"),
    });
    const args = ["--directory", directory];
    const storage = makeStorage(scene.config);
    expect((await prefetch([...args, "--check"], storage)).status).toBe(1);
    const first = await prefetch(args, storage);
    expect(first).toMatchObject({
      status: 0,
      modules: [`${network} 1.1.0 fetched`],
      packages: ["registry.terraform.io/acme/cog 3.1.0"],
      notCarried: [{ source: "git::https://git.example.com/acme/plain.git" }],
    });
    expect(first.stderr).toContain("git.example.com/acme/plain.git");
    expect(first.stderr).not.toContain("secret");
    const again = await prefetch(args, storage);
    expect(again).toMatchObject({
      status: 0,
      modules: [`${network} 1.1.0 stored`],
    });
    expect(scene.modules.count("/network-1.1.0.tar.gz")).toBe(1);
    expect((await prefetch([...args, "--check"], storage)).status).toBe(0);
  });

  it("takes modules by their SPECs, in each case of letters", async () => {
    const spec = `${moduleHost}/Acme/Network/aws@~> 1.0`;
    const { status, modules } = await prefetch(["--module", spec]);
    expect({ status, modules }).toEqual({
      status: 0,
      modules: [`${network} 1.0.0 fetched`, `${network} 1.1.0 fetched`],
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
    const directory = makeDirectory({ "main.tf": calling(source, version) });
    const run = await prefetch(["--directory", directory]);
    expect(run).toMatchObject({
      status: 0,
      modules: [],
      notCarried: [{ source: expect.stringContaining(source) as string }],
    });
    expect(run.stderr).toMatch(/main\.tf:1: ".*" is left to the clients/);
  });

  it.each([
    ["a version that there is not", calling(network, ">= 9"), "No version of"],
    [
      "a module that there is not",
      calling(`${moduleHost}/acme/nothing/aws`),
      "does not exist",
    ],
  ])("ends with %s", async (_, text, said) => {
    const run = await prefetch([
      "--directory",
      makeDirectory({ "main.tf": text }),
    ]);
    expect(run.status).toBe(1);
    expect(run.stderr).toContain(said);
  });
});
