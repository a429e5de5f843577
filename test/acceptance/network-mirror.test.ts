import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startMirror, type RunningMirror } from "../running-mirror.ts";
import {
  directConfig,
  init,
  networkMirrorConfig,
  ownHashes,
  readLockFile,
  type Client,
} from "./clients.ts";
import { findTestedClients } from "./tested-clients.ts";
import { startOrigin } from "../scenes/world.ts";

const clients = await findTestedClients();

const address = "registry.terraform.io/acme/widget";
const platforms = ["linux_amd64", "darwin_arm64", "windows_amd64"];

const { registry, config, ca } = await startOrigin();
const made = { platforms, size: 400_000, content: "half" } as const;
const release = await registry.publish({ version: "1.2.3", ...made });
let mirror: RunningMirror = await startMirror({ config });

async function install(
  client: Client,
  cliConfig = networkMirrorConfig(`${mirror.url}providers/`),
  { caFile = mirror.caFile, source = address } = {},
) {
  const required = { widget: { source, version: "1.2.3" } };
  const ran = await init(client, required, { cliConfig, caFile });
  expect(ran.output).toContain("successfully initialized");
  const file = join(ran.directory, ".terraform.lock.hcl");
  const hashes = (await readLockFile(ran.directory)).get(source)?.hashes;
  return { ...ran, hashes, lockFile: await readFile(file, "utf8") };
}

describe.each(clients)("$name $version", (client) => {
  it("installs through the network mirror, cold and warm, with the hashes of a direct install", async () => {
    const directly = directConfig(registry.providersUrl);
    const direct = await install(client, directly, { caFile: ca });
    registry.requests.clear();
    const cold = await install(client);
    const archives = registry.requests.count("archive");
    const warm = await install(client);
    expect(registry.requests.count("archive")).toBe(archives);
    const own = release.archive("linux_amd64");
    expect(direct.hashes).toContain(own.h1);
    expect(cold.hashes).toEqual(ownHashes(client, own));
    expect(warm.lockFile).toBe(cold.lockFile);
  });

  it("checks the signature itself behind a host block and under the mirror's own hostname, and locks what a direct install locks", async () => {
    const directly = directConfig(registry.providersUrl);
    const direct = await install(client, directly, { caFile: ca });
    const facade = `${mirror.url}v1/providers/registry.terraform.io/`;
    const ours = await install(client, directConfig(facade));
    expect(ours.lockFile).toBe(direct.lockFile);
    const source = `localhost:${new URL(mirror.url).port}/acme/widget`;
    const own = await install(client, "", { source });
    expect(own.hashes).toEqual(direct.hashes);
    for (const { output } of [direct, ours, own])
      expect(output).toContain(`signed, key ID ${release.signer.keyId}`);
  });

  it("installs with the origin stopped, also after a restart of the mirror", async () => {
    await registry.stop();
    try {
      await install(client);
      await mirror.stop();
      const { directory } = mirror;
      mirror = await startMirror({ config, directory });
      await install(client);
    } finally {
      await registry.restart();
    }
  });
});
