import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { runHere } from "../../running-here.ts";
import { startMirror } from "../../running-mirror.ts";
import {
  calling,
  makeModuleCalls,
  moduleHost,
  providerHost,
} from "../../scenes/module-calls.ts";
import { expectDocument } from "../documents.ts";
import { makeDirectory, makeStorage, type CommandStorage } from "../storage.ts";

const scene = await makeModuleCalls();

beforeEach(() => {
  scene.providers.requests.clear();
  scene.modules.requests.length = 0;
});

interface Printed {
  readonly packages: readonly { provider: string; outcome: string }[];
  readonly modules: readonly { module: string }[];
  readonly problems: readonly { code: string; message: string }[];
}

const linux = ["--platform", "linux_amd64"];

function run(storage: CommandStorage, ...args: readonly string[]) {
  const command = ["prefetch", "--json", "--config", storage.configFile];
  return runHere([...command, ...args]);
}

async function check(storage: CommandStorage, ...args: readonly string[]) {
  const { status, stdout, stderr } = await run(storage, "--check", ...args);
  const printed = expectDocument("prefetch", stdout) as Printed;
  return { ...{ status, stderr }, ...printed };
}

const kinds = ["discovery", "versions", "package", "archive"] as const;
const asked = () =>
  kinds.reduce(
    (sum, kind) => sum + scene.providers.requests.count(kind),
    scene.modules.requests.length,
  );

const files = {
  "main.tf": calling(`${moduleHost}/acme/network/aws`, "~> 1.0"),
};

/** A directory with its lock file, which `provender lock` completed. */
async function lock() {
  const text = `provider "${providerHost}/acme/widget" {\n  version = "1.5.0"\n}\nprovider "${providerHost}/acme/gadget" {\n  version = "3.1.0"\n}\n`;
  const directory = makeDirectory({ ...files, ".terraform.lock.hcl": text });
  const mirror = await startMirror({ config: scene.config });
  const from = ["--mirror", mirror.url, "--ca", mirror.caFile];
  expect((await runHere(["lock", ...from, ...linux, directory])).status).toBe(
    0,
  );
  await mirror.stop();
  return directory;
}

describe("prefetch --check", () => {
  it("names every locked package and module that is not held, without any request", async () => {
    const directory = await lock();
    scene.providers.requests.clear();
    scene.modules.requests.length = 0;
    const empty = makeStorage(scene.config);
    const lockFile = join(directory, ".terraform.lock.hcl");
    const by = await check(empty, ...linux, "--lock-file", lockFile);
    expect(by.status).toBe(1);
    expect(by.packages.map(({ outcome }) => outcome)).toEqual(
      Array(2).fill("missing"),
    );
    expect(by.stderr).toContain(
      `${providerHost}/acme/widget 1.5.0 linux_amd64 is not held here.\n`,
    );
    expect(by.stderr).toContain("0 packages and 0 modules held, 2 missing.\n");
    const whole = await check(empty, ...linux, "--directory", directory);
    expect(whole.status).toBe(1);
    expect(whole.stderr).toContain(
      `${moduleHost}/acme/network/aws is not held here.\n`,
    );
    expect(whole.problems).toContainEqual(
      expect.objectContaining({ code: "not-stored" }),
    );
    expect(asked()).toBe(0);
  });

  it("names an archive whose hash is not the locked one", async () => {
    const storage = makeStorage(scene.config);
    const directory = await lock();
    expect(
      (await run(storage, ...linux, "--directory", directory)).status,
    ).toBe(0);
    const text = readFileSync(join(directory, ".terraform.lock.hcl"), "utf8");
    const other = text.replaceAll(/"(h1|zh):./g, '"$1:0');
    const changed = makeDirectory({ ".terraform.lock.hcl": other });
    const found = await check(storage, ...linux, "--directory", changed);
    expect(found.status).toBe(1);
    expect(found.packages.map(({ outcome }) => outcome)).toContain("failed");
  });
});
