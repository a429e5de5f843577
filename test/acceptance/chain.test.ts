import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority, type Authority } from "../fakes/authority.ts";
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
import { findNginx, startNginx } from "./nginx.ts";

const clients = await findClients();
const nginx = await findNginx();
if (clients.length === 0)
  it.skip("installs through two mirrors with a real client: none is on PATH", () =>
    undefined);

const hostname = "registry.terraform.io";

let authority: Authority;
let originCa: string;
let registry: Registry;
let far: RunningMirror;
let farConfig: ReturnType<typeof originsOf>;
/** Believes what the far mirror reports. */
let byMirror: RunningMirror;
/** Checks the publisher's signatures, which the far mirror hands on. */
let byRegistry: RunningMirror;

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  farConfig = originsOf(authority, registry);
  originCa = (farConfig.origins[hostname] as { ca: string }).ca;
  far = await startMirror({ config: farConfig });
  byMirror = await startMirror({ config: mirrorOrigin() });
  byRegistry = await startMirror({ config: registryOrigin() });
});

afterAll(async () => {
  for (const mirror of [byMirror, byRegistry, far]) await mirror.stop();
  await registry.stop();
});

function mirrorOrigin() {
  const networkMirror = `${far.url}providers/`;
  const signatures = "when-published";
  const origin = { networkMirror, ca: far.caFile, signatures };
  return { origins: { [hostname]: origin } };
}

function registryOrigin() {
  return { origins: { [hostname]: { url: far.url, ca: far.caFile } } };
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

async function init(
  client: Client,
  type: string,
  mirror: RunningMirror,
  cliConfig: string,
) {
  const directory = scratch("init");
  const source = `${hostname}/acme/${type}`;
  await writeConfiguration(directory, { it: { source, version: "1.2.3" } });
  const options = { directory, cliConfig, caFile: mirror.caFile };
  const ran = await runClient(client, ["init", "-no-color"], options);
  const hashes =
    ran.status === 0
      ? ((await readLockFile(directory)).get(source)?.hashes ?? [])
      : [];
  return { ...ran, hashes };
}

describe.each(clients)("$name $version behind two mirrors", (client) => {
  const throughMirror = (type: string, near = byMirror) =>
    init(client, type, near, networkMirrorConfig(`${near.url}providers/`));
  const throughFacade = (type: string, near = byRegistry) =>
    init(
      client,
      type,
      near,
      directConfig(`${near.url}v1/providers/${hostname}/`),
    );

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
      await byMirror.stop();
      const { directory } = byMirror;
      byMirror = await startMirror({ config: mirrorOrigin(), directory });
      expect((await throughMirror(type)).hashes).toEqual(locked);
      const late = await throughMirror(`${type}-late`);
      expect(late.output).toMatch(/50[234]/);
    } finally {
      await reviveFar();
    }
  });

  it("checks the publisher's signature behind both, when the far one is asked as a registry", async () => {
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

describe.each(nginx === undefined ? [] : clients)(
  "$name $version behind a mirror of a static tree",
  (client) => {
    it("installs from what the client itself mirrored, which has no zh", async () => {
      const type = `static-${client.name}`;
      const release = await publish(type);
      const locked = ownHashes(client, release.archive("linux_amd64"));
      const source = `${hostname}/acme/${type}`;
      const directory = scratch("reference");
      const tree = join(directory, "tree");
      await mkdir(tree);
      await writeConfiguration(directory, { it: { source } });
      const made = await runClient(
        client,
        ["providers", "mirror", "-platform=linux_amd64", tree],
        {
          directory,
          cliConfig: directConfig(registry.providersUrl),
          caFile: originCa,
        },
      );
      expect(made.status).toBe(0);
      const server = await startNginx(nginx ?? "", authority, tree);
      const origin = { networkMirror: server.url, ca: originCa };
      const near = await startMirror({
        config: {
          origins: { [hostname]: { ...origin, signatures: "when-published" } },
        },
      });
      try {
        const cliConfig = networkMirrorConfig(`${near.url}providers/`);
        const cold = await init(client, type, near, cliConfig);
        expect([cold.status, cold.hashes]).toEqual([0, locked]);
        await server.stop();
        const stopped = await init(client, type, near, cliConfig);
        expect([stopped.status, stopped.hashes]).toEqual([0, locked]);
      } finally {
        await near.stop();
        await server.stop().catch(() => undefined);
      }
    });
  },
);

/** On its old port, which the near mirrors know. */
async function reviveFar(): Promise<void> {
  const { directory, url } = far;
  const listen = { port: Number(new URL(url).port) };
  far = await startMirror({ config: { ...farConfig, listen }, directory });
}
