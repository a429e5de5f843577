import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
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
  it.skip("installs through the mirror with a real client: none is on PATH", () =>
    undefined);

const address = "registry.terraform.io/acme/widget";
const platforms = ["linux_amd64", "darwin_arm64", "windows_amd64"];

let caFile: string;
let originCa: string;
let registry: Registry;
let release: Release;
let mirror: RunningMirror;
let config: ReturnType<typeof originsOf>;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  release = await registry.publish({
    version: "1.2.3",
    platforms,
    size: 400_000,
    content: "half",
  });
  config = originsOf(authority, registry);
  originCa = (config.origins["registry.terraform.io"] as { ca: string }).ca;
  mirror = await startMirror({ config });
  caFile = mirror.caFile;
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

async function init(
  client: Client,
  cliConfig = networkMirrorConfig(`${mirror.url}providers/`),
  ca = caFile,
) {
  const directory = scratch("init");
  await writeConfiguration(directory, {
    widget: { source: address, version: "1.2.3" },
  });
  const options = { directory, cliConfig, caFile: ca };
  const ran = await runClient(client, ["init", "-no-color"], options);
  return { ...ran, directory };
}

async function hashesAfter(directory: string): Promise<readonly string[]> {
  return (await readLockFile(directory)).get(address)?.hashes ?? [];
}

describe.each(clients)("$name $version through the mirror", (client) => {
  it("installs cold, then warm without asking for an archive, with the lock file of a direct install", async () => {
    const direct = await init(
      client,
      directConfig(registry.providersUrl),
      originCa,
    );
    expect(direct.output).toContain("successfully initialized");
    registry.requests.clear();

    const cold = await init(client);
    expect(cold.output).toContain("successfully initialized");
    const archives = registry.requests.count("archive");
    const warm = await init(client);
    expect(warm.output).toContain("successfully initialized");
    expect(registry.requests.count("archive")).toBe(archives);

    const h1 = release.archive("linux_amd64").h1;
    expect(await hashesAfter(direct.directory)).toContain(h1);
    expect(await hashesAfter(cold.directory)).toEqual(
      ownHashes(client, release.archive("linux_amd64")),
    );
    // Clients check a zh: or an h1:; the lock file is the same either way.
    const lockOf = ({ directory }: { readonly directory: string }) =>
      readFile(join(directory, ".terraform.lock.hcl"), "utf8");
    expect(await lockOf(warm)).toBe(await lockOf(cold));
    expect(await hashesAfter(warm.directory)).toContain(h1);
  });

  it("installs where VERSION.json also says which h1 the mirror computed", async () => {
    await mirror.get(
      `/providers/${address}/terraform-provider-widget_1.2.3_linux_amd64.zip`,
    );
    const { h1, sha256 } = release.archive("linux_amd64");
    const versionDocument = await mirror.get(
      `/providers/${address}/1.2.3.json`,
    );
    expect(versionDocument.json()).toMatchObject({
      archives: { linux_amd64: { hashes: [`zh:${sha256}`, h1] } },
      computed: { linux_amd64: h1 },
    });
    const ran = await init(client);
    expect(ran.output).toContain("successfully initialized");
    expect(await hashesAfter(ran.directory)).toEqual(
      ownHashes(client, release.archive("linux_amd64")),
    );
  });

  it("serves 30 installs at once", async () => {
    const runs = await Promise.all(
      Array.from({ length: 30 }, () => init(client)),
    );
    expect(runs.map(({ status }) => status)).toEqual(Array(30).fill(0));
  });

  it("installs with the origin stopped, also after a restart of the mirror", async () => {
    await registry.stop();
    try {
      expect((await init(client)).status).toBe(0);
      await mirror.stop();
      const { directory } = mirror;
      mirror = await startMirror({ config, directory });
      expect((await init(client)).status).toBe(0);
    } finally {
      await registry.restart();
    }
  });
});

it.runIf(clients.some(({ name }) => name === "terraform"))(
  "gives the h1 and the archives that terraform providers mirror gives, for every platform",
  async () => {
    const client = clients.find(({ name }) => name === "terraform");
    if (client === undefined) throw new Error("checked above");
    for (const { filename } of release.archives)
      await mirror.get(`/providers/${address}/${filename}`);
    const directory = scratch("reference");
    const tree = join(directory, "tree");
    await mkdir(tree);
    await writeConfiguration(directory, {
      widget: { source: address, version: "1.2.3" },
    });
    const flags = platforms.map((platform) => `-platform=${platform}`);
    const ran = await runClient(
      client,
      ["providers", "mirror", ...flags, tree],
      {
        directory,
        cliConfig: directConfig(registry.providersUrl),
        caFile: originCa,
      },
    );
    expect(ran.status).toBe(0);
    const reference = JSON.parse(
      await readFile(join(tree, address, "1.2.3.json"), "utf8"),
    ) as VersionDocument;
    const ours = (
      await mirror.get(`/providers/${address}/1.2.3.json`)
    ).json() as VersionDocument;
    for (const { platform, sha256, h1 } of release.archives) {
      expect(ours.archives[platform]?.hashes).toEqual([`zh:${sha256}`, h1]);
      expect(reference.archives[platform]?.hashes).toEqual([h1]);
    }
  },
);

interface VersionDocument {
  readonly archives: Readonly<
    Record<string, { readonly url: string; readonly hashes: readonly string[] }>
  >;
}
