import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { tarGz } from "../fakes/module-archive.ts";
import type { Release } from "../fakes/release.ts";
import { defaultSigner } from "../fakes/signing.ts";
import { runCommand } from "../running-command.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { calling, requiring } from "../scenes/module-calls.ts";
import {
  filesOf,
  folderHost,
  makeDist,
  makeOriginFolder,
  writeFiles,
} from "../scenes/origin-folder.ts";
import {
  directConfig,
  findClients,
  hostConfig,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
  type Client,
} from "./clients.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clients = await findClients();
if (clients.length === 0)
  it.skip("installs a private provider with a real client: none is on PATH", () =>
    undefined);

const platforms = ["linux_amd64", "darwin_arm64"];

let release: Release;
let mirror: RunningMirror;

beforeAll(async () => {
  const root = makeOriginFolder(await defaultSigner());
  release = await makeDist({ version: "1.2.3", platforms, size: 100_000 });
  writeFiles(join(root, "acme", "widget", "1.2.3"), filesOf(release));
  const required = requiring("widget", ">= 1").replace(
    "registry.terraform.io",
    folderHost,
  );
  writeFiles(join(root, "modules", "acme", "parts", "aws"), {
    "0.1.0.tar.gz": await tarGz([["main.tf", required]]),
  });
  const origins = { [folderHost]: { directory: root } };
  mirror = await startMirror({ config: { origins } });
});

afterAll(() => mirror.stop());

/** Each way in which clients come to the mirror. */
const ways: Readonly<
  Record<string, () => { readonly host: string; readonly cliConfig: string }>
> = {
  "a host block": () => ({
    host: folderHost,
    cliConfig: directConfig(
      `${mirror.url}v1/providers/${folderHost}/`,
      folderHost,
    ),
  }),
  "the network mirror": () => ({
    host: folderHost,
    cliConfig: networkMirrorConfig(`${mirror.url}providers/`),
  }),
  "the mirror's own hostname": () => ({
    host: `localhost:${new URL(mirror.url).port}`,
    cliConfig: "",
  }),
};

function init(client: Client, directory: string, cliConfig: string) {
  const options = { directory, cliConfig, caFile: mirror.caFile };
  return runClient(client, ["init", "-no-color"], options);
}

describe.each(clients)(
  "$name $version with a provider of a folder",
  (client) => {
    it.each(Object.keys(ways))(
      "installs it through %s, and its lock file can be completed",
      async (way) => {
        const { host, cliConfig } = ways[way]?.() ?? {
          host: "",
          cliConfig: "",
        };
        const directory = scratch("init");
        const source = `${host}/acme/widget`;
        await writeConfiguration(directory, {
          widget: { source, version: "1.2.3" },
        });
        const ran = await init(client, directory, cliConfig);
        expect(ran.output).toContain("successfully initialized");
        if (way !== "the network mirror")
          expect(ran.output).toContain(release.signer.keyId);

        const zh = release.archives.map(({ sha256 }) => `zh:${sha256}`);
        const h1 = release.archives.map((archive) => archive.h1);
        const locked = (await readLockFile(directory)).get(source);
        expect(locked?.hashes).toContain(release.archive("linux_amd64").h1);
        if (way !== "the network mirror")
          expect(locked?.hashes).toEqual(expect.arrayContaining(zh));
        if (host !== folderHost) return;
        const flags = platforms.flatMap((platform) => ["--platform", platform]);
        const config = ["--config", mirror.configFile];
        const { stderr } = await runCommand([
          "lock",
          ...config,
          ...flags,
          directory,
        ]);
        expect(stderr).toContain("added to");
        const complete = (await readLockFile(directory)).get(source);
        expect(complete?.hashes).toEqual(
          expect.arrayContaining([...zh, ...h1]),
        );
        expect((await init(client, directory, cliConfig)).status).toBe(0);
      },
    );

    it("installs a module of the folder, with the provider that it requires", async () => {
      const directory = scratch("init");
      writeFileSync(
        join(directory, "main.tf"),
        calling(`${folderHost}/acme/parts/aws`),
      );
      const services = {
        "modules.v1": `${mirror.url}v1/modules/${folderHost}/`,
        "providers.v1": `${mirror.url}v1/providers/${folderHost}/`,
      };
      const ran = await init(
        client,
        directory,
        hostConfig(folderHost, services),
      );
      expect(ran.output).toContain("successfully initialized");
      const text = readFileSync(join(directory, ".terraform.lock.hcl"), "utf8");
      expect(text).toContain(`${folderHost}/acme/widget`);
    });
  },
);
