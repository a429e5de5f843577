import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import {
  directConfig,
  findClients,
  networkMirrorConfig,
  ownHashes,
  readLockFile,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";

const clients = await findClients();
if (clients.length === 0)
  it.skip("installs through two mirrors with a real client: none is on PATH", () =>
    undefined);

const hostname = "registry.terraform.io";

let registry: Registry;
let far: RunningMirror;
let farConfig: ReturnType<typeof originsOf>;
/** Checks the publisher's signatures, which the far mirror hands on. */
let near: RunningMirror;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  farConfig = originsOf(authority, registry);
  far = await startMirror({ config: farConfig });
  near = await startMirror({ config: behindFar() });
});

afterAll(async () => {
  for (const mirror of [near, far]) await mirror.stop();
  await registry.stop();
});

function behindFar() {
  const url = `${far.url}registry/${hostname}/`;
  return { origins: { [hostname]: { url, ca: far.caFile } } };
}

function publish(type: string): Promise<Release> {
  return registry.publish({
    type,
    version: "1.2.3",
    platforms: ["linux_amd64", "darwin_arm64"],
    content: "half",
    size: 200_000,
  });
}

async function init(client: Client, type: string, cliConfig: string) {
  const directory = scratch("init");
  const source = `${hostname}/acme/${type}`;
  await writeConfiguration(directory, { it: { source, version: "1.2.3" } });
  const options = { directory, cliConfig, caFile: near.caFile };
  const ran = await runClient(client, ["init", "-no-color"], options);
  const hashes =
    ran.status === 0
      ? ((await readLockFile(directory)).get(source)?.hashes ?? [])
      : [];
  return { ...ran, hashes };
}

describe.each(clients)("$name $version behind two mirrors", (client) => {
  const throughMirror = (type: string) =>
    init(client, type, networkMirrorConfig(`${near.url}providers/`));
  const throughFacade = (type: string) =>
    init(client, type, directConfig(`${near.url}v1/providers/${hostname}/`));

  it("installs cold and warm, and what is cached with the far mirror stopped, also after a restart", async () => {
    const type = `chained-${client.name}`;
    const release = await publish(type);
    const locked = ownHashes(client, release.archive("linux_amd64"));
    const cold = await throughMirror(type);
    expect([cold.status, cold.hashes]).toEqual([0, locked]);
    expect((await throughMirror(type)).status).toBe(0);
    await publish(`${type}-late`);
    await far.stop();
    try {
      expect((await throughMirror(type)).hashes).toEqual(locked);
      await near.stop();
      const { directory } = near;
      near = await startMirror({ config: behindFar(), directory });
      expect((await throughMirror(type)).hashes).toEqual(locked);
      const late = await throughMirror(`${type}-late`);
      expect(late.output).toMatch(/50[234]/);
    } finally {
      await reviveFar();
    }
  });

  it("checks the publisher's signature behind both", async () => {
    const type = `signed-${client.name}`;
    const release = await publish(type);
    const keyId = `key ID ${release.signer.keyId}`;
    const all = [
      release.archive("linux_amd64").h1,
      ...release.archives.map(({ sha256 }) => `zh:${sha256}`),
    ].toSorted();
    const cold = await throughFacade(type);
    expect(cold.output).toContain(keyId);
    expect(cold.hashes.toSorted()).toEqual(all);
    await far.stop();
    try {
      const stopped = await throughFacade(type);
      expect(stopped.output).toContain(keyId);
      expect(stopped.hashes.toSorted()).toEqual(all);
    } finally {
      await reviveFar();
    }
  });
});

/** On its old port, which the near mirrors know. */
async function reviveFar(): Promise<void> {
  const { directory, url } = far;
  const listen = { port: Number(new URL(url).port) };
  far = await startMirror({ config: { ...farConfig, listen }, directory });
}
