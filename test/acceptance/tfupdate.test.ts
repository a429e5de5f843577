import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { FakeModuleRegistry } from "../fakes/module-registry.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { execute, readLockFile, writeConfiguration } from "./clients.ts";
import { tfupdate } from "./programs.ts";

const host = "registry.terraform.io";
const moduleHost = "modules.example.com";
const platforms = ["linux_amd64", "darwin_arm64"];

let registry: Registry;
let modules: FakeModuleRegistry;
let mirror: RunningMirror;
let release: Release;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  modules = await FakeModuleRegistry.start({ authority });
  const ca = join(scratch("ca"), "ca.pem");
  writeFileSync(ca, authority.caPem);
  const published = { type: "widget", platforms, size: 20_000 };
  await registry.publish({ ...published, version: "1.0.0" });
  release = await registry.publish({ ...published, version: "1.1.0" });
  for (const version of ["2.0.0", "2.1.0"])
    modules.publish("acme/network/aws", version, "./network.zip");
  const origins = {
    [host]: { url: registry.url, ca },
    [moduleHost]: { url: modules.url, ca },
  };
  mirror = await startMirror({ config: { origins } });
});

afterAll(async () => {
  for (const one of [mirror, registry, modules]) await one.stop();
});

/** As docs/recipes.md has it. */
function run(args: readonly string[], hostname: string, cwd = scratch("run")) {
  return execute(tfupdate?.binary ?? "", args, {
    cwd,
    timeout: 60_000,
    env: {
      PATH: process.env.PATH,
      SSL_CERT_FILE: mirror.caFile,
      TFREGISTRY_BASE_URL: `${mirror.url}registry/${hostname}/`,
    },
  });
}

describe.runIf(tfupdate !== undefined)("tfupdate behind the mirror", () => {
  it.each([
    ["tfregistryProvider", "acme/widget", host, "1.1.0"],
    ["tfregistryModule", "acme/network/aws", moduleHost, "2.1.0"],
  ])("finds the newest version by %s", async (type, name, hostname, newest) => {
    const args = ["release", "latest", "--source-type", type, name];
    const { stdout, stderr } = await run(args, hostname);
    expect([stdout.trim(), stderr]).toEqual([newest, ""]);
  });

  it("computes the right hashes, and locks them under the name of the mirror", async () => {
    const directory = scratch("locked");
    await writeConfiguration(directory, {
      widget: { source: "acme/widget", version: "1.1.0" },
    });
    writeFileSync(join(directory, ".terraform.lock.hcl"), "");
    const flags = platforms.map((one) => `--platform=${one}`);
    const args = ["lock", ...flags, "."];
    expect((await run(args, host, directory)).output).toBe("");
    const { hostname } = new URL(mirror.url);
    const locks = await readLockFile(directory);
    const locked = locks.get(`${hostname}/acme/widget`);
    const hashes = platforms.flatMap((platform) => {
      const { h1, sha256 } = release.archive(platform);
      return [h1, `zh:${sha256}`];
    });
    expect(locked?.hashes.toSorted()).toEqual(hashes.toSorted());
  });
});
